package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// textWidth is the width of a terminal that everything fits.
const textWidth = 80

// say writes a sentence: in lines that fit where people look, else in one line,
// which programs and logs can search.
func say(w io.Writer, sentence string) error {
	if isTerminal(w) {
		sentence = wrap("", sentence)
	}
	_, err := fmt.Fprintln(w, sentence)
	return err
}

// wrap breaks a text into lines that fit, all but the first indented as far as its
// lead. What is longer than a line by itself stays whole.
func wrap(lead, text string) string {
	column := utf8.RuneCountInString(lead)
	indent := strings.Repeat(" ", column)
	out := lead
	for i, word := range strings.Fields(text) {
		long := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+long > textWidth:
			out += "\n" + indent
			column = len(indent)
		default:
			out += " "
			column++
		}
		out += word
		column += long
	}
	return out
}
