package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReportPages: a run writes a page, and a page that is a picture gives every
// other form again.
func TestReportPages(t *testing.T) {
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	run := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := Main(t.Context(), args, &out, &errs, nil); code != want {
			t.Fatalf("%v: exit code %d, want %d: %s", args, code, want, &errs)
		}
		return errs.String()
	}
	run(0, "run", "--preset", "tiny", "--device", "sim", "--repeats", "1", "--quiet", "--report", file("a.png"), "--json", file("a.json"))
	for _, name := range []string{"b.svg", "b.md", "b.csv", "b.json", "b.trace.json", "b.png"} {
		run(0, "report", file("a.png"), "-o", file(name))
		if info, err := os.Stat(file(name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	first, _ := os.ReadFile(file("a.json"))
	again, _ := os.ReadFile(file("b.json"))
	if !bytes.Equal(first, again) {
		t.Error("the result that came out of the picture is not the one that went in")
	}
	run(0, "report", file("a.json"), "-o", file("dark.png"), "--dark", "--dpi", "60", "--language", "zh")
	for want, args := range map[string][]string{
		"dpi: 7 is not allowed; allowed is 30 to 1200":     {"report", file("a.json"), "-o", file("c.png"), "--dpi", "7"},
		`language: "xx" is not allowed; allowed is en, zh`: {"report", file("a.json"), "-o", file("c.png"), "--language", "xx"},
		"allowed is a name that ends in .png, .svg or .md": {"run", "--preset", "tiny", "--report", file("c.jpg")},
		"the file exists": {"run", "--preset", "tiny", "--report", file("a.png")},
		"read picture":    {"report", cutPicture(t, file("a.png"))},
	} {
		if got := run(2, args...); !strings.Contains(got, want) {
			t.Errorf("%v: %s, want %q in it", args, got, want)
		}
	}
}

// cutPicture is a picture that ends within the result it carries.
func cutPicture(t *testing.T, path string) string {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := path + ".cut.png"
	if err := os.WriteFile(cut, whole[:2000], 0o600); err != nil {
		t.Fatal(err)
	}
	return cut
}
