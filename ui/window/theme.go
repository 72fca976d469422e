//go:build !headless

package window

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"pinscope/bench/report/fonts"
)

// looks is the window's theme: Fyne's, with a typeface that has Chinese and
// mathematical signs, a fixed or the system's variant, and a scale.
type looks struct {
	fyne.Theme
	variant string  // "light", "dark" or "" for the system's
	scale   float32 // of texts and distances, 1 is normal
}

var (
	regular = fyne.NewStaticResource("NotoSansSC-Regular.ttf", fonts.Regular)
	bold    = fyne.NewStaticResource("NotoSansSC-Bold.ttf", fonts.Bold)
)

func newLooks(variant string, scale float32) *looks {
	return &looks{Theme: theme.DefaultTheme(), variant: variant, scale: scale}
}

// Font has no slanted face; fixed-width text stays Fyne's.
func (t *looks) Font(style fyne.TextStyle) fyne.Resource {
	switch {
	case style.Monospace || style.Symbol:
		return t.Theme.Font(style)
	case style.Bold:
		return bold
	}
	return regular
}

func (t *looks) Size(name fyne.ThemeSizeName) float32 {
	size := t.Theme.Size(name)
	switch name {
	case theme.SizeNamePadding:
		size = 3
	case theme.SizeNameInnerPadding:
		size = 6
	case theme.SizeNameText:
		size = 13
	case theme.SizeNameCaptionText:
		size = 11
	case theme.SizeNameSubHeadingText:
		size = 16
	case theme.SizeNameHeadingText:
		size = 24
	case theme.SizeNameInlineIcon:
		size = 18
	}
	return size * t.scale
}

// colours that differ from Fyne's: the ground is that of the charts, so that they
// have no edges, and hints have a contrast of at least 4.5:1 to it.
var colours = map[fyne.ThemeVariant]map[fyne.ThemeColorName]color.NRGBA{
	theme.VariantLight: {
		theme.ColorNameForeground: rgb(0x1b1f24),
		theme.ColorNameBackground: rgb(0xffffff), theme.ColorNameDisabled: rgb(0x5c6670), theme.ColorNamePlaceHolder: rgb(0x5c6670),
		theme.ColorNameSuccess: rgb(0x00734f), theme.ColorNameWarning: rgb(0x8a5200), theme.ColorNameError: rgb(0xb3261e),
		theme.ColorNameSeparator: rgb(0xdfe3e8), theme.ColorNamePrimary: rgb(0x0b62b0), theme.ColorNameInputBorder: rgb(0xb6bec7),
	},
	theme.VariantDark: {
		theme.ColorNameForeground: rgb(0xe9edf1),
		theme.ColorNameBackground: rgb(0x14181d), theme.ColorNameDisabled: rgb(0x98a2ad), theme.ColorNamePlaceHolder: rgb(0x98a2ad),
		theme.ColorNameSuccess: rgb(0x4cc38a), theme.ColorNameWarning: rgb(0xf0a53a), theme.ColorNameError: rgb(0xff8a80),
		theme.ColorNameSeparator: rgb(0x343c45), theme.ColorNameInputBackground: rgb(0x1c2228), theme.ColorNameInputBorder: rgb(0x46505b),
	},
}

func rgb(value uint32) color.NRGBA {
	return color.NRGBA{R: uint8(value >> 16), G: uint8(value >> 8), B: uint8(value), A: 255}
}

func (t *looks) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	variant = t.effective(variant)
	if own, ok := colours[variant][name]; ok {
		return own
	}
	return t.Theme.Color(name, variant)
}

func (t *looks) effective(system fyne.ThemeVariant) fyne.ThemeVariant {
	switch t.variant {
	case "light":
		return theme.VariantLight
	case "dark":
		return theme.VariantDark
	}
	return system
}
