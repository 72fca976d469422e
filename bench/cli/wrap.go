package cli

import "strings"

// textWidth is the width of a terminal that everything fits.
const textWidth = 80

// wrap breaks a text into lines that fit, all but the first indented as far as its
// lead. What is longer than a line by itself stays whole.
func wrap(lead, text string) string {
	indent := strings.Repeat(" ", len(lead))
	out, column := lead, len(lead)
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > textWidth:
			out += "\n" + indent
			column = len(indent)
		default:
			out += " "
			column++
		}
		out += word
		column += len(word)
	}
	return out
}
