package report

import (
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// wrap breaks a text into lines of at most a width. Chinese may be broken
// between any two characters, other text at spaces, and a word longer than the
// line anywhere.
func wrap(s text.Style, line string, width vg.Length) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(line, "\n") {
		lines = append(lines, wrapOne(s, paragraph, width)...)
	}
	return lines
}

func wrapOne(s text.Style, paragraph string, width vg.Length) []string {
	var lines []string
	now, nowWidth := "", vg.Length(0)
	flush := func() {
		if t := strings.TrimRight(now, " "); t != "" {
			lines = append(lines, t)
		}
		now, nowWidth = "", 0
	}
	for _, piece := range pieces(paragraph) {
		w := s.Width(piece)
		if nowWidth+s.Width(strings.TrimRight(piece, " ")) > width && now != "" {
			flush()
		}
		for w > width && len([]rune(piece)) > 1 {
			head := strings.TrimSuffix(shorten(s, piece, width), "…")
			if head == "" {
				head = string([]rune(piece)[:1])
			}
			lines = append(lines, head)
			piece = piece[len(head):]
			w = s.Width(piece)
		}
		if now == "" {
			piece = strings.TrimLeft(piece, " ")
			w = s.Width(piece)
		}
		now += piece
		nowWidth += w
	}
	flush()
	return lines
}

// pieces are what a line must not be broken within: words with the space that
// follows, single Chinese characters.
func pieces(line string) []string {
	var out []string
	start := 0
	for i, r := range line {
		if i > start && (r >= 0x2e80 && r < 0xff00 || line[i-1] == ' ' && r != ' ' || i >= 3 && isHan(line[i-3:i]) && !closing(r)) {
			if !closing(r) {
				out = append(out, line[start:i])
				start = i
			}
		}
	}
	return append(out, line[start:])
}

func isHan(three string) bool {
	r := []rune(three)
	return len(r) == 1 && r[0] >= 0x2e80
}

// closing punctuation does not begin a line.
func closing(r rune) bool { return strings.ContainsRune("，。；：、）！？%)", r) }
