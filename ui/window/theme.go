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

func (t *looks) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	return t.Theme.Color(name, t.effective(variant))
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
