// Package words says the window's texts in the user's language.
//
// A text is written in English where it is used and looked up here: English is
// the key, so that the code reads well and a text without a translation is still
// a text. A test finds texts that have none. Numbers and units are the same in all languages.
package words

import (
	"fmt"
	"os"
	"strings"
)

// Language is a language of the window, as its code: "en".
type Language string

// The languages.
const (
	English Language = "en"
	Chinese Language = "zh-Hans" // simplified
)

// Languages are all languages, the ones first that everything was written in.
func Languages() []Language { return []Language{English, Chinese} }

// Name is what its speakers call a language.
func (l Language) Name() string {
	if l == Chinese {
		return "简体中文"
	}
	return "English"
}

// Say is a text in the language, with values filled in as fmt.Sprintf does if
// there are any.
func (l Language) Say(english string, values ...any) string {
	text := english
	if l == Chinese {
		if translated, ok := chinese[english]; ok {
			text = translated
		}
	}
	if len(values) == 0 {
		return text
	}
	return fmt.Sprintf(text, values...)
}

// Hint says what a setting does: english, unless there is a translation for the flag.
func (l Language) Hint(flag, english string) string {
	if l == Chinese && chineseHints[flag] != "" {
		return chineseHints[flag]
	}
	return english
}

// System is the language that the environment asks for.
func System() Language {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := os.Getenv(name); value != "" {
			if strings.HasPrefix(value, "zh") {
				return Chinese
			}
			return English
		}
	}
	return English
}
