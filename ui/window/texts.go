//go:build !headless

package window

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// wrapped is a text that is broken into lines and can be selected.
func wrapped(text string) *widget.Label {
	label := widget.NewLabel(text)
	label.Wrapping = fyne.TextWrapWord
	label.Selectable = true
	return label
}

// caption is a small text that explains something.
func caption(text string) *widget.Label {
	label := widget.NewLabel(text)
	label.SizeName = theme.SizeNameCaptionText
	label.Importance = widget.LowImportance
	label.Wrapping = fyne.TextWrapWord
	return label
}

func heading(text string) *widget.Label {
	label := widget.NewLabelWithStyle(text, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	label.SizeName = theme.SizeNameSubHeadingText
	return label
}

// list is one text below the other, each with a sign before it.
func list(sign string, importance widget.Importance, texts []string) fyne.CanvasObject {
	box := container.NewVBox()
	for _, text := range texts {
		label := wrapped(sign + " " + text)
		label.Importance = importance
		box.Add(label)
	}
	return box
}

// table is rows of short texts; the first row is the head. Columns are as wide as
// their widest text; what is wider than the window can be scrolled to.
func table(rows [][]string, left int) fyne.CanvasObject {
	if len(rows) == 0 {
		return container.NewVBox()
	}
	grid := container.New(&columns{count: len(rows[0])})
	for i, row := range rows {
		for j, text := range row {
			label := widget.NewLabel(text)
			label.TextStyle.Bold = i == 0
			if j >= left {
				label.Alignment = fyne.TextAlignTrailing
			}
			grid.Add(label)
		}
	}
	return container.NewHScroll(grid)
}

// snug puts the second object close below the first.
type snug struct{}

func (s *snug) overlap(upper fyne.CanvasObject) float32 {
	return min(theme.InnerPadding()-1, upper.MinSize().Height)
}

// Layout is called by Fyne.
func (s *snug) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	height := objects[0].MinSize().Height
	objects[0].Resize(fyne.NewSize(size.Width, height))
	objects[0].Move(fyne.NewPos(0, 0))
	top := height - s.overlap(objects[0])
	objects[1].Move(fyne.NewPos(0, top))
	objects[1].Resize(fyne.NewSize(size.Width, max(size.Height-top, objects[1].MinSize().Height)))
}

// MinSize is called by Fyne.
func (s *snug) MinSize(objects []fyne.CanvasObject) fyne.Size {
	upper, lower := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(max(upper.Width, lower.Width), upper.Height+lower.Height-s.overlap(objects[0]))
}

// columns lays out objects row by row, each column as wide as its widest object.
type columns struct{ count int }

func (c *columns) sizes(objects []fyne.CanvasObject) (widths, heights []float32) {
	widths = make([]float32, c.count)
	heights = make([]float32, (len(objects)+c.count-1)/c.count)
	for i, o := range objects {
		size := o.MinSize()
		widths[i%c.count] = max(widths[i%c.count], size.Width)
		heights[i/c.count] = max(heights[i/c.count], size.Height)
	}
	return widths, heights
}

// Layout is called by Fyne.
func (c *columns) Layout(objects []fyne.CanvasObject, _ fyne.Size) {
	widths, heights := c.sizes(objects)
	x, y := float32(0), float32(0)
	for i, o := range objects {
		column, row := i%c.count, i/c.count
		if column == 0 {
			x = 0
		}
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(widths[column], heights[row]))
		x += widths[column]
		if column == c.count-1 {
			y += near(heights[row])
		}
	}
}

// near is how far the next row is from one of a height: rows of a table stand
// nearer to each other than labels would. It is whole, so that texts stay sharp.
func near(height float32) float32 { return float32(int(height - theme.InnerPadding() + 1)) }

// MinSize is called by Fyne.
func (c *columns) MinSize(objects []fyne.CanvasObject) fyne.Size {
	widths, heights := c.sizes(objects)
	size := fyne.NewSize(0, 0)
	for _, w := range widths {
		size.Width += w
	}
	for _, h := range heights {
		size.Height += near(h)
	}
	return size
}

// facts is pairs of a name and a text below each other.
func facts(rows [][]string) fyne.CanvasObject {
	form := container.New(&pairs{})
	for _, row := range rows {
		form.Add(widget.NewLabelWithStyle(row[0], fyne.TextAlignLeading, fyne.TextStyle{Bold: true}))
		form.Add(wrapped(row[1]))
	}
	return form
}

// pairs lays out names and texts: names as wide as the widest, texts take the
// rest and are as high as they then need to be.
type pairs struct{ height float32 }

func (p *pairs) nameWidth(objects []fyne.CanvasObject) float32 {
	width := float32(0)
	for i := 0; i < len(objects); i += 2 {
		width = max(width, objects[i].MinSize().Width)
	}
	return width
}

// Layout is called by Fyne.
func (p *pairs) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	names, y := p.nameWidth(objects), float32(0)
	for i := 0; i+1 < len(objects); i += 2 {
		text := objects[i+1]
		text.Resize(fyne.NewSize(max(size.Width-names, 10), text.MinSize().Height))
		height := text.MinSize().Height
		text.Resize(fyne.NewSize(max(size.Width-names, 10), height))
		objects[i].Move(fyne.NewPos(0, y))
		objects[i].Resize(fyne.NewSize(names, objects[i].MinSize().Height))
		text.Move(fyne.NewPos(names, y))
		y += near(height)
	}
	p.height = y
}

// MinSize is called by Fyne.
func (p *pairs) MinSize(objects []fyne.CanvasObject) fyne.Size {
	height := float32(0)
	for i := 0; i+1 < len(objects); i += 2 {
		height += near(max(objects[i].MinSize().Height, objects[i+1].MinSize().Height))
	}
	return fyne.NewSize(p.nameWidth(objects)+100, max(height, p.height))
}
