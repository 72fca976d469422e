package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"

	"pinscope/bench"
	"pinscope/bench/report/fonts"
)

// said is every text that the window says, with where it is said: the constant
// first arguments of Say.
func said(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			if selector, ok := call.Fun.(*ast.SelectorExpr); ok && selector.Sel.Name == "Say" {
				if text, ok := constant(call.Args[0]); ok {
					texts[text] = path
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// TestHints: every setting has a translated hint, and every hint is a setting's.
func TestHints(t *testing.T) {
	flags := map[string]bool{}
	config := reflect.TypeFor[bench.Config]()
	for i := range config.NumField() {
		key, _, _ := strings.Cut(config.Field(i).Tag.Get("json"), ",")
		flags[strings.ReplaceAll(key, "_", "-")] = true
	}
	delete(flags, "preset") // has no hint of its own
	for flag := range flags {
		if Chinese.Hint(flag, "") == "" {
			t.Errorf("no hint for %s", flag)
		}
	}
	for flag := range chineseHints {
		if !flags[flag] {
			t.Errorf("a hint for %s, which is no setting", flag)
		}
	}
}

func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := constant(e.X)
		right, also := constant(e.Y)
		return left + right, ok && also
	}
	return "", false
}

var verbs = regexp.MustCompile(`%[-+0-9.]*[a-z%]`)

// TestChinese: every text has a translation that takes the same values, and every
// translation is of a text that is said.
func TestChinese(t *testing.T) {
	texts := said(t)
	if len(texts) < 100 {
		t.Fatalf("only %d texts were found", len(texts))
	}
	for text, where := range texts {
		translated, ok := chinese[text]
		if !ok {
			if text != "" && text != "." && strings.Trim(text, "%s.() ") != "" {
				t.Errorf("%s: no translation of %q", where, text)
			}
			continue
		}
		if a, b := verbs.FindAllString(text, -1), verbs.FindAllString(translated, -1); !slices.Equal(a, b) {
			t.Errorf("%q takes %v, its translation %v", text, a, b)
		}
	}
	for _, p := range bench.Presets() {
		texts[p.Description] = "bench.Presets"
	}
	for text := range chinese {
		if _, ok := texts[text]; !ok {
			t.Errorf("nobody says %q any more", text)
		}
	}
}

func TestSay(t *testing.T) {
	for _, c := range []struct {
		language Language
		text     string
		values   []any
		want     string
	}{
		{English, "%d CPUs", []any{2}, "2 CPUs"},
		{Chinese, "%d CPUs", []any{2}, "2 个 CPU"},
		{Chinese, "50 % of nothing", nil, "50 % of nothing"},
	} {
		if got := c.language.Say(c.text, c.values...); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.language, c.text, got, c.want)
		}
	}
}

func TestSystem(t *testing.T) {
	for _, c := range []struct {
		all, lang string
		want      Language
	}{{"", "zh_CN.UTF-8", Chinese}, {"C", "zh_CN.UTF-8", English}, {"", "", English}, {"zh_TW", "en_US", Chinese}} {
		t.Setenv("LC_ALL", c.all)
		t.Setenv("LC_MESSAGES", "")
		t.Setenv("LANG", c.lang)
		if got := System(); got != c.want {
			t.Errorf("LC_ALL=%q LANG=%q: %s, want %s", c.all, c.lang, got, c.want)
		}
	}
}

// TestFont: the typeface has every sign of every text. The warning sign, as the one
// exception, comes from the emoji that Fyne brings.
func TestFont(t *testing.T) {
	font, err := sfnt.Parse(fonts.Regular)
	if err != nil {
		t.Fatal(err)
	}
	missing := map[rune]bool{}
	for text := range said(t) {
		for _, r := range text + chinese[text] {
			if i, err := font.GlyphIndex(nil, r); err != nil || i == 0 {
				missing[r] = true
			}
		}
	}
	for _, hint := range chineseHints {
		for _, r := range hint {
			if i, err := font.GlyphIndex(nil, r); err != nil || i == 0 {
				missing[r] = true
			}
		}
	}
	for _, r := range "▲▼≈●○■?•▶“”…—·" + Chinese.Name() {
		if i, err := font.GlyphIndex(nil, r); err != nil || i == 0 {
			missing[r] = true
		}
	}
	for r := range missing {
		t.Errorf("the typeface has no %q (%U)", r, r)
	}
}
