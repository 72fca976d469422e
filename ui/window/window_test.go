//go:build !headless

package window

import (
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"pinscope/bench"
	"pinscope/bench/report"
	"pinscope/bench/stats"
	"pinscope/bench/trace"
	"pinscope/ui/client"
	"pinscope/ui/history"
	"pinscope/ui/settings"
	"pinscope/ui/view"
	"pinscope/ui/words"
)

// waiting are functions that want to cross the border; a test lets them, or not.
type waiting chan func()

func (w waiting) cross(f func()) { w <- f }

// opened is a window on Fyne's own driver for tests, without a display. No runner
// is there to be started.
func opened(t *testing.T, files ...string) *Window {
	t.Helper()
	app := test.NewTempApp(t)
	folder, err := history.Open(filepath.Join(t.TempDir(), "results"))
	if err != nil {
		t.Fatal(err)
	}
	w := Open(app, Options{Program: filepath.Join(t.TempDir(), "no-runner"), History: folder,
		Settings: filepath.Join(t.TempDir(), "window.json"), Files: files, cross: make(waiting, 1000).cross})
	w.say = words.English
	w.remembered.Language = string(words.English)
	w.build()
	w.win.Resize(fyne.NewSize(1000, 560))
	t.Cleanup(func() {
		w.border.close()
		w.planner.forget()
	})
	return w
}

// result is a comparison of two sides with the given names of settings.
func result() *bench.Result {
	a, b := bench.DefaultConfig(), bench.DefaultConfig()
	ratio := 1.5
	r := &bench.Result{Schema: 1, Kind: bench.KindCompare, Complete: true, Simulated: true, Device: bench.Device{ID: "sim:laptop"},
		Command: "pinscope compare --preset tiny", Sentence: "SIMULATED: B is faster.", Warnings: []string{"a doubt"},
		Comparison: &stats.Comparison{Ratio: &ratio, Verdict: stats.Faster, Interval: &stats.Interval{Lo: 1.2, Hi: 1.8, Level: 0.96}}}
	for i, c := range []bench.Config{a, b} {
		rate := 100 * float64(i+1)
		side := bench.Side{Label: string("AB"[i]), Config: c, Trace: &trace.Trace{Lanes: []trace.LaneTrace{{Name: "trainer", Kind: trace.Trainer,
			Spans: []trace.Span{{Stage: trace.CopyCall, Start: 1e6, Dur: 2e6}, {Stage: trace.Launch, Batch: 1, Start: 4e6, Dur: 1e6}}}}}}
		side.SamplesPerS = stats.Summarize([]float64{rate})
		side.Repeats, side.Typical = []bench.Repeat{{Complete: true, SamplesPerS: &rate}}, new(int)
		r.Sides = append(r.Sides, side)
	}
	return r
}

// texts are all texts of labels under an object.
func texts(o fyne.CanvasObject) string {
	var all []string
	walk(o, func(o fyne.CanvasObject) {
		if label, ok := o.(*widget.Label); ok && label.Visible() {
			all = append(all, label.Text)
		}
	})
	return strings.Join(all, "\n")
}

func walk(o fyne.CanvasObject, visit func(fyne.CanvasObject)) {
	visit(o)
	switch o := o.(type) {
	case *fyne.Container:
		for _, child := range o.Objects {
			walk(child, visit)
		}
	case *container.Scroll:
		walk(o.Content, visit)
	case *widget.Card:
		walk(o.Content, visit)
	}
}

// TestSmall: whatever is shown, the window fits a small screen (C93).
func TestSmall(t *testing.T) {
	w := opened(t)
	ladder := result()
	for range 10 {
		ladder.Sides = append(ladder.Sides, ladder.Sides[0])
	}
	ladder.Warnings = []string{strings.Repeat("a long warning ", 50)}
	for name, r := range map[string]*bench.Result{"welcome": nil, "comparison": result(), "twelve sides": ladder} {
		for _, l := range words.Languages() {
			w.setLanguage(l)
			w.showResult(r, strings.Repeat("a long name ", 30))
			for i := range w.tabs.Items {
				w.tabs.SelectIndex(i)
				if least := w.win.Content().MinSize(); least.Width > 1000 || least.Height > 520 { // and the menu's height
					t.Errorf("%s, %s, page %d: the window cannot be smaller than %v", name, l, i, least)
				}
			}
		}
	}
}

func TestFormMarksProblems(t *testing.T) {
	w := opened(t)
	w.form.fields["batch"].set("0")
	if got := w.form.fields["batch"].caption.Text; !strings.Contains(got, "0 is not allowed; allowed is 1 to") {
		t.Errorf("caption %q", got)
	}
	if !w.bar.run.Disabled() || !w.bar.compare.Disabled() || !strings.Contains(w.planText.Text, "marked fields") {
		t.Errorf("run can be pressed: %v, plan %q", !w.bar.run.Disabled(), w.planText.Text)
	}
	w.form.fields["batch"].set("8")
	if got := w.form.fields["batch"].caption.Text; got != w.form.fields["batch"].view.Hint {
		t.Errorf("the hint is not back: %q", got)
	}
	if w.bar.run.Disabled() || w.form.values["preset"] != "" {
		t.Errorf("run can be pressed: %v, preset %q", !w.bar.run.Disabled(), w.form.values["preset"])
	}
}

func TestPresetFillsTheForm(t *testing.T) {
	w := opened(t)
	w.form.fields["device"].set("cpu")
	w.form.presets.SetSelected("video")
	c, problems := w.form.values.Read()
	if len(problems) > 0 || c.Preset != "video" || c.Batch != 8 || c.Device != "cpu" {
		t.Errorf("problems %v, preset %q, batch %d, device %s", problems, c.Preset, c.Batch, c.Device)
	}
}

func TestSourceBringsWhatGoesWithIt(t *testing.T) {
	w := opened(t)
	walk(w.form.content, func(o fyne.CanvasObject) {
		if c, ok := o.(*choice); ok && len(c.Options) == len(view.SourceKinds()) && c.Options[0] == view.SourceKinds()[0] {
			c.SetSelected("tokens")
		}
	})
	if v := w.form.values; v["source"] != "tokens" || v["dtype"] != "int64" || v["shape"] != "256" {
		t.Errorf("source %s, dtype %s, shape %s", v["source"], v["dtype"], v["shape"])
	}
}

// TestPagesShowTheResult, in the language of the window.
func TestPagesShowTheResult(t *testing.T) {
	w := opened(t)
	w.showResult(result(), "Monday")
	for page, want := range map[fyne.CanvasObject][]string{
		w.overview.content: {"▲ +50.0 %", "B is faster.", "SIMULATED", "⚠ a doubt", "pinscope compare --preset tiny"},
		w.timeline.content: {"A pin thread, non_blocking", "shown"},
		w.memory.content:   {"Pinned, in fact"},
	} {
		got := texts(page)
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%q is not in %q", part, got)
			}
		}
	}
	w.setLanguage(words.Chinese)
	if got := texts(w.overview.content); !strings.Contains(got, "快 50.0 %") || !strings.Contains(got, "模拟") {
		t.Errorf("in Chinese: %q", got)
	}
	if got := settings.Load(w.options.Settings).Language; got != string(words.Chinese) {
		t.Errorf("the language is not remembered: %q", got)
	}
}

func TestTimelineZooms(t *testing.T) {
	w := opened(t)
	w.showResult(result(), "")
	before := w.timeline.windows[0]
	w.timeline.zoom(0.5, 1) // at the right edge, which stays
	after := w.timeline.windows[0]
	if after.To != before.To || after.To-after.From != (before.To-before.From)/2 {
		t.Errorf("zoomed from %v to %v", before, after)
	}
	w.timeline.move(1)
	if moved := w.timeline.windows[0]; moved.From != after.To {
		t.Errorf("moved from %v to %v", after, moved)
	}
	for range 200 {
		w.timeline.zoom(0.5, 0.5)
	}
	if w := w.timeline.windows[0]; w.To-w.From != leastShown {
		t.Errorf("zoomed in to %v", w)
	}
}

// TestWriters: each form writes something, and the PNG report opens again.
func TestWriters(t *testing.T) {
	folder := t.TempDir()
	for ending, write := range writers(report.Options{DPI: 50}) {
		var b strings.Builder
		if err := write(result(), &b); err != nil || b.Len() == 0 {
			t.Errorf("%s: %d bytes, %v", ending, b.Len(), err)
		}
		if err := os.WriteFile(filepath.Join(folder, "x"+ending), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, format := range view.Formats(words.English) {
		if writers(report.Options{})[format.Ending] == nil {
			t.Errorf("nothing writes %s", format.Name)
		}
	}
	for _, name := range []string{"x.png", "x.json"} {
		r, _, err := readAny(filepath.Join(folder, name))
		if err != nil || r == nil || r.Sentence != result().Sentence {
			t.Errorf("%s: %v", name, err)
		}
	}
	preset := filepath.Join(folder, "mine.json")
	if err := os.WriteFile(preset, []byte(`{"batch": 7}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, c, err := readAny(preset); err != nil || c == nil || c.Batch != 7 {
		t.Errorf("preset: %+v, %v", c, err)
	}
	if _, _, err := readAny(filepath.Join(folder, "x.csv")); err == nil {
		t.Error("a table was read as a result")
	}
}

// TestEndings: what is shown when a runner has ended, with or without a result.
func TestEndings(t *testing.T) {
	for _, c := range []struct {
		name    string
		outcome client.Outcome
		want    string
	}{
		{"result", client.Outcome{Result: result()}, "+50.0 %"},
		{"refused", client.Outcome{Failure: "batch: 0 is not allowed", Input: true}, "batch: 0 is not allowed"},
		{"stopped before anything was finished", client.Outcome{Stopped: true}, "stopped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := opened(t)
			r := &client.Runner{}
			w.runner = r
			w.bar.show(true)
			w.ended(r, c.outcome, nil)
			if got := texts(w.overview.content); !strings.Contains(got, c.want) {
				t.Errorf("%q is not in %q", c.want, got)
			}
			if w.runner != nil || w.bar.run.Disabled() || !w.bar.end.Disabled() {
				t.Error("the buttons still say that it runs")
			}
		})
	}
}

// TestChartIsDrawnOnce: at a size, and again only when it or what is drawn changes.
func TestChartIsDrawnOnce(t *testing.T) {
	test.NewTempApp(t)
	drawn := make(chan picture, 100)
	crossing := make(waiting, 100)
	c := newChart(newBorder(crossing.cross), fyne.NewSize(10, 10))
	d := func(width, height, dpi int) (image.Image, error) {
		drawn <- picture{width: width, height: height, dpi: dpi}
		return image.NewNRGBA(image.Rect(0, 0, width, height)), nil
	}
	c.draw = d
	for range 5 {
		c.generate(40, 30)
	}
	if got := <-drawn; got.width != 40 || got.height != 30 || got.dpi < 48 {
		t.Errorf("drawn %+v", got)
	}
	(<-crossing)()
	if got := c.generate(40, 30).Bounds(); got.Dx() != 40 {
		t.Errorf("what was drawn is not shown: %v", got)
	}
	if got := c.generate(41, 30).Bounds(); got.Dx() != 40 {
		t.Errorf("until the new picture is there the old one stays: %v", got)
	}
	if got := <-drawn; got.width != 41 {
		t.Errorf("drawn %+v", got)
	}
	(<-crossing)()
	select {
	case more := <-drawn:
		t.Errorf("drawn once more: %+v", more)
	default:
	}
}

// TestCopy: text, command line and PyTorch reach the clipboard.
func TestCopy(t *testing.T) {
	w := opened(t)
	w.showResult(result(), "")
	for i, want := range []string{"SIMULATED GPU", "pinscope compare --preset tiny", "DataLoader(dataset, batch_size=16"} {
		w.copyItems()[i].Action()
		if got := w.app.Clipboard().Content(); !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// TestSaveAs: the ending is added, nothing is replaced without asking, nothing is
// left where a name is refused (C95).
func TestSaveAs(t *testing.T) {
	w := opened(t)
	crossing := make(waiting, 10)
	w.border.cross = crossing.cross
	w.showResult(result(), "")
	folder := t.TempDir()
	csv := view.Format{Name: "Table", Ending: ".csv"}
	w.saveAs(folder, "résultat-測試", csv)
	(<-crossing)()
	path := filepath.Join(folder, "résultat-測試.csv")
	first, err := os.ReadFile(path)
	if err != nil || len(first) == 0 {
		t.Fatalf("%d bytes, %v", len(first), err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.saveAs(folder, "résultat-測試", csv) // asks
	w.saveAs(folder, "", csv)            // refuses
	if text, _ := os.ReadFile(path); string(text) != "mine" {
		t.Error("a file was replaced without asking")
	}
	if files, _ := os.ReadDir(folder); len(files) != 1 {
		t.Errorf("left over: %v", files)
	}
}
