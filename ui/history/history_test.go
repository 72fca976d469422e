package history

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pinscope/bench"
)

func folder(t *testing.T) *Folder {
	t.Helper()
	f, err := Open(filepath.Join(t.TempDir(), "new", "results"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// put writes a result that was started at a minute.
func put(t *testing.T, f *Folder, name string, minute int) {
	t.Helper()
	median := 1234.0
	r := &bench.Result{Schema: 1, Kind: bench.KindRun, Complete: true, Simulated: true, Started: time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC),
		Device: bench.Device{ID: "sim:laptop"}, Sides: []bench.Side{{Config: bench.DefaultConfig()}}}
	r.Sides[0].SamplesPerS.Median = &median
	if err := bench.WriteFile(f.file(name), r.WriteJSON); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, f *Folder) string {
	t.Helper()
	list, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name)
	}
	return strings.Join(out, ",")
}

func TestList(t *testing.T) {
	f := folder(t)
	put(t, f, "old", 1)
	put(t, f, "new", 9)
	put(t, f, "middle", 5)
	for name, text := range map[string]string{"broken.json": "{", "other.txt": "x", ".hidden.json": "{}"} {
		if err := os.WriteFile(filepath.Join(f.path, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, f); got != "broken,new,middle,old" { // broken counts as of now
		t.Errorf("list %s", got)
	}
	list, _ := f.List()
	if list[0].Broken == "" || list[1].Broken != "" {
		t.Errorf("broken: %q, %q", list[0].Broken, list[1].Broken)
	}
	if e := list[1]; e.Answer != "1,234 samples/s" || !e.Simulated || e.Device != "sim:laptop" {
		t.Errorf("entry %+v", e)
	}
	put(t, f, "old", 59) // a changed file is read again
	if got := names(t, f); got != "broken,old,new,middle" {
		t.Errorf("list after a change %s", got)
	}
}

func TestRenameDeleteNote(t *testing.T) {
	f := folder(t)
	put(t, f, "a", 1)
	put(t, f, "b", 2)
	if err := f.Note("a", "before the new driver"); err != nil {
		t.Fatal(err)
	}
	if err := f.Rename("a", "b"); err == nil || names(t, f) != "b,a" {
		t.Errorf("a result was replaced: %v, %s", err, names(t, f))
	}
	if err := f.Rename("a", " résultat/測試.json "); err != nil {
		t.Fatal(err)
	}
	list, _ := f.List()
	if list[1].Name != "résultat-測試" || list[1].Note != "before the new driver" {
		t.Errorf("after the rename %+v", list[1])
	}
	if err := f.Rename("b", " . "); err == nil {
		t.Error("a name of nothing was taken")
	}
	if err := f.Delete("résultat-測試"); err != nil || names(t, f) != "b" {
		t.Errorf("delete: %v, %s", err, names(t, f))
	}
	if notes, _ := f.notes(); len(notes) != 0 {
		t.Errorf("the note outlived its result: %v", notes)
	}
	if err := f.Delete("nothing"); err == nil {
		t.Error("what is not there was deleted")
	}
}

func TestNewFile(t *testing.T) {
	f, now := folder(t), time.Date(2026, 12, 1, 13, 5, 9, 0, time.UTC)
	first := f.NewFile(now, bench.KindCompare, "sim:laptop tiny")
	if want := "2026-12-01 13.05.09 compare sim-laptop tiny"; f.Name(first) != want {
		t.Errorf("name %q, want %q", f.Name(first), want)
	}
	put(t, f, f.Name(first), 1)
	if second := f.NewFile(now, bench.KindCompare, "sim:laptop tiny"); f.Name(second) != f.Name(first)+" (2)" {
		t.Errorf("second %q", second)
	}
	if f.Name("/elsewhere/x.json") != "" {
		t.Error("a file of another folder has a name here")
	}
}

func TestMatches(t *testing.T) {
	e := Entry{Name: "Monday", Note: "new driver", Device: "sim:laptop", Settings: "A pin off, blocking"}
	for search, want := range map[string]bool{"": true, "monday": true, "PIN driver": true, "pin tuesday": false} {
		if e.Matches(search) != want {
			t.Errorf("%q: %v", search, !want)
		}
	}
}
