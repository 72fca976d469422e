package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"pinscope/bench"
	"pinscope/bench/report"
)

// looks are the flags that say how a page with charts looks.
type looks struct {
	Dark     bool   `name:"dark" group:"output" help:"Pages with light ink on dark."`
	DPI      int    `name:"dpi" group:"output" placeholder:"N" default:"150" help:"Dots per inch of a PNG page, 30 to 1200. Default 150."`
	Language string `name:"language" group:"output" placeholder:"NAME" default:"en" help:"Language of pages: en or zh (Simplified Chinese). Default en."`
}

func (l looks) validate() error {
	if l.DPI != 0 && (l.DPI < 30 || l.DPI > 1200) {
		return &bench.InputError{Field: "dpi", Value: fmt.Sprint(l.DPI), Allowed: "30 to 1200"}
	}
	if l.Language != "" && l.Language != "en" && l.Language != "zh" {
		return &bench.InputError{Field: "language", Value: fmt.Sprintf("%q", l.Language), Allowed: "en, zh"}
	}
	return nil
}

func (l looks) options() report.Options {
	o := report.Options{Dark: l.Dark, DPI: l.DPI}
	if l.Language == "zh" {
		o.Language = report.Chinese
	}
	return o
}

// pageEndings are those of the files that page writes.
const pageEndings = ".png, .svg or .md"

// page is how the page that a file's ending names is written; nil for other endings.
func (l looks) page(path string) func(*bench.Result, io.Writer) error {
	var write func(io.Writer, *bench.Result, report.Options) error
	switch name := strings.ToLower(path); {
	case strings.HasSuffix(name, ".png"):
		write = report.WritePNG
	case strings.HasSuffix(name, ".svg"):
		write = report.WriteSVG
	case strings.HasSuffix(name, ".md"):
		write = report.WriteMarkdown
	default:
		return nil
	}
	return func(r *bench.Result, w io.Writer) error { return write(w, r, l.options()) }
}

// openResult reads a result file, or the result that a PNG report carries.
func openResult(path string) (*bench.Result, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	from := bufio.NewReader(file)
	read := bench.ReadResult
	if head, _ := from.Peek(8); bytes.Equal(head, []byte("\x89PNG\r\n\x1a\n")) {
		read = report.Extract
	}
	result, err := read(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return result, nil
}
