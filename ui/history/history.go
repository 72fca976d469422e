// Package history keeps results as files in the user's data folder: each is a
// result file like any other, which can be copied away and shown by `pinscope
// report`. Notes stand beside them, in notes.db.
//
// [Open] gives a [Folder]. Its methods may be called from any goroutine; reading
// a long list takes time.
package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adrg/xdg"
	"github.com/google/renameio/v2"

	"pinscope/bench"
	"pinscope/bench/units"
)

// Folder is a folder of results.
type Folder struct {
	path string

	mu   sync.Mutex // guards what follows, and the files while they are changed
	seen map[string]entryOf
}

// entryOf is an entry, and the state of the file that it was read from.
type entryOf struct {
	entry   Entry
	size    int64
	changed time.Time
}

// Entry is one result in the list.
type Entry struct {
	Name      string // of the file, without its ending
	Note      string
	Started   time.Time
	Kind      bench.Kind
	Device    string
	Simulated bool
	Complete  bool
	Answer    string // the figure: "+12.3 %", "4,210 samples/s"
	Settings  string // of the sides
	Broken    string // why the file cannot be read; then only Name and Note count
}

const ending = ".json"

// notesFile holds the notes as JSON, by the name of the result; its ending keeps it out of the list.
const notesFile = "notes.db"

// UserFolder is the user's folder: under XDG_DATA_HOME, usually ~/.local/share/pinscope/results.
func UserFolder() string { return filepath.Join(xdg.DataHome, "pinscope", "results") }

// Open makes the folder if it is not there.
func Open(path string) (*Folder, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("history: make folder: %w", err)
	}
	return &Folder{path: path, seen: map[string]entryOf{}}, nil
}

// Path is where the folder is.
func (f *Folder) Path() string { return f.path }

// NewFile is the path of a result that is about to be measured; no file has it.
func (f *Folder) NewFile(now time.Time, kind bench.Kind, what string) string {
	name := clean(now.Format("2006-01-02 15.04.05") + " " + string(kind) + " " + what)
	for i := 1; ; i++ {
		try := name
		if i > 1 {
			try = fmt.Sprintf("%s (%d)", name, i)
		}
		if _, err := os.Lstat(f.file(try)); err != nil {
			return f.file(try)
		}
	}
}

// clean makes a name of a file out of a text.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, text)
	return strings.TrimLeft(strings.TrimSpace(text), ".")
}

func (f *Folder) file(name string) string { return filepath.Join(f.path, name+ending) }

// Name is the name of a file of this folder, "" of any other.
func (f *Folder) Name(file string) string {
	if filepath.Dir(file) != filepath.Clean(f.path) || !strings.HasSuffix(file, ending) {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(file), ending)
}

// List is all results, the newest first. A file that cannot be read is in the
// list and says why.
func (f *Folder) List() ([]Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	files, err := os.ReadDir(f.path)
	if err != nil {
		return nil, fmt.Errorf("history: list: %w", err)
	}
	notes, err := f.notes()
	if err != nil {
		return nil, err
	}
	seen := map[string]entryOf{}
	var list []Entry
	for _, file := range files {
		name, isResult := strings.CutSuffix(file.Name(), ending)
		info, err := file.Info()
		if !isResult || strings.HasPrefix(name, ".") || err != nil || !info.Mode().IsRegular() {
			continue
		}
		known, ok := f.seen[name]
		if !ok || known.size != info.Size() || !known.changed.Equal(info.ModTime()) {
			known = entryOf{f.read(name), info.Size(), info.ModTime()}
		}
		seen[name] = known
		entry := known.entry
		entry.Note = notes[name]
		if entry.Broken != "" {
			entry.Started = info.ModTime()
		}
		list = append(list, entry)
	}
	f.seen = seen
	slices.SortStableFunc(list, func(a, b Entry) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}

func (f *Folder) read(name string) Entry {
	r, err := f.Load(name)
	if err != nil {
		return Entry{Name: name, Broken: err.Error()}
	}
	return EntryOf(name, r)
}

// EntryOf is what a list shows of a result.
func EntryOf(name string, r *bench.Result) Entry {
	e := Entry{Name: name, Started: r.Started, Kind: r.Kind, Device: r.Device.ID, Simulated: r.Simulated, Complete: r.Complete}
	var settings []string
	for _, s := range r.Sides {
		settings = append(settings, strings.TrimSpace(s.Label+" "+s.Config.Summary()))
	}
	e.Settings = strings.Join(settings, " / ")
	switch c := r.Comparison; {
	case c != nil && c.Ratio != nil && len(r.NotValid) == 0:
		e.Answer = units.SignedPercent(*c.Ratio - 1)
	case r.Kind == bench.KindRun && len(r.Sides) > 0 && r.Sides[0].SamplesPerS.Median != nil:
		e.Answer = units.SampleRate(*r.Sides[0].SamplesPerS.Median) + " samples/s"
	default:
		e.Answer = units.NotAvailable
	}
	return e
}

// Load reads a result.
func (f *Folder) Load(name string) (*bench.Result, error) {
	file, err := os.Open(f.file(name))
	if err != nil {
		return nil, fmt.Errorf("history: open: %w", err)
	}
	defer file.Close()
	r, err := bench.ReadResult(file)
	if err != nil {
		return nil, fmt.Errorf("history: read %s: %w", name, err)
	}
	return r, nil
}

// Delete removes a result and its note.
func (f *Folder) Delete(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.Remove(f.file(name)); err != nil {
		return fmt.Errorf("history: delete: %w", err)
	}
	return f.changeNotes(func(notes map[string]string) { delete(notes, name) })
}

// Rename gives a result another name. It replaces no other.
func (f *Folder) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	to = clean(strings.TrimSuffix(strings.TrimSpace(to), ending))
	if to == "" {
		return errors.New("history: rename: a name is missing")
	}
	if to == from {
		return nil
	}
	// A link fails where the name is taken; a rename would replace that result.
	if err := os.Link(f.file(from), f.file(to)); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("history: rename: there is a result called %s already", to)
	} else if err != nil {
		return fmt.Errorf("history: rename: %w", err)
	}
	if err := os.Remove(f.file(from)); err != nil {
		return fmt.Errorf("history: rename: %w", err)
	}
	return f.changeNotes(func(notes map[string]string) {
		if note, ok := notes[from]; ok {
			notes[to] = note
			delete(notes, from)
		}
	})
}

// Note sets a result's note; an empty one removes it.
func (f *Folder) Note(name, note string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changeNotes(func(notes map[string]string) {
		if note == "" {
			delete(notes, name)
		} else {
			notes[name] = note
		}
	})
}

func (f *Folder) notes() (map[string]string, error) {
	notes := map[string]string{}
	text, err := os.ReadFile(filepath.Join(f.path, notesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return notes, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &notes)
	}
	if err != nil {
		return nil, fmt.Errorf("history: read notes: %w", err)
	}
	return notes, nil
}

func (f *Folder) changeNotes(change func(map[string]string)) error {
	notes, err := f.notes()
	if err != nil {
		return err
	}
	before := fmt.Sprint(notes)
	change(notes)
	if fmt.Sprint(notes) == before {
		return nil
	}
	text, err := json.MarshalIndent(notes, "", " ")
	if err == nil {
		err = renameio.WriteFile(filepath.Join(f.path, notesFile), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("history: write notes: %w", err)
	}
	return nil
}

// Matches says whether an entry holds all words of a search, in any case.
func (e Entry) Matches(search string) bool {
	all := strings.ToLower(strings.Join([]string{e.Name, e.Note, string(e.Kind), e.Device, e.Answer, e.Settings}, " "))
	for _, word := range strings.Fields(strings.ToLower(search)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}
