// Package fonts holds the typeface of charts and window: Noto Sans SC in two
// weights, cut down to Latin, arrows, mathematical signs, box drawing and the
// 3,755 most common Chinese characters. It is under the SIL Open Font License
// 1.1 (OFL.txt beside it); subset.sh is how the files were made.
package fonts

import _ "embed"

// Family is the name of the typeface, as in the files.
const Family = "Noto Sans SC"

// Regular and Bold are TrueType files. They are not to be changed.
var (
	//go:embed NotoSansSC-Regular.ttf
	Regular []byte

	//go:embed NotoSansSC-Bold.ttf
	Bold []byte

	// License is the text that has to go with the fonts.
	//go:embed OFL.txt
	License string
)
