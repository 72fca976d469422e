//go:build !headless

package window

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pinscope/bench"
	"pinscope/bench/report"
	"pinscope/ui/client"
	"pinscope/ui/history"
	"pinscope/ui/settings"
	"pinscope/ui/view"
	"pinscope/ui/words"
)

// Options are what a window needs.
type Options struct {
	Program  string          // the runner: this program's own file
	History  *history.Folder // where results are kept
	Settings string          // the file of what is remembered
	Files    []string        // result files, PNG reports or presets to open

	cross func(func()) // of the border; nil: fyne.Do
}

// Window is Pinscope's window.
type Window struct {
	options    Options
	app        fyne.App
	win        fyne.Window
	remembered settings.Settings
	border     *border
	say        words.Language
	host       bench.Host

	runner  *client.Runner // under way; nil: none
	running string         // the file that it writes its result to
	closing bool           // once the runner has ended
	result  *bench.Result  // that the pages show
	name    string         // of result
	values  view.Form
	open    map[string]bool // sections of the form
	plan    *plan           // the newest
	planner *planner

	form     *form
	bar      *bar
	planText *widget.Label
	status   *widget.Label
	device   *widget.Label
	notes    *widget.Label
	split    *container.Split
	tabs     *container.AppTabs
	overview *overview
	timeline *timeline
	memory   *memory
	past     *past
}

// Open builds the window and shows it. It must be called on the Fyne goroutine,
// or before the loop runs.
func Open(app fyne.App, o Options) *Window {
	w := &Window{options: o, app: app, remembered: settings.Load(o.Settings), border: newBorder(o.cross), host: bench.ThisHost(),
		open: map[string]bool{"1": true, "2": true, "3": true}}
	w.say = words.Language(cmp.Or(w.remembered.Language, string(words.System())))
	w.values = w.rememberedValues()
	w.win = app.NewWindow("Pinscope")
	w.win.SetMaster()
	w.planner = &planner{border: w.border, program: o.Program, told: w.showPlan}
	w.win.Resize(w.rememberedSize())
	w.win.SetCloseIntercept(w.close)
	w.win.SetOnDropped(func(_ fyne.Position, files []fyne.URI) {
		for _, file := range files {
			w.openPath(file.Path())
		}
	})
	app.Lifecycle().SetOnStarted(func() {
		w.applyLooks() // before this, light and dark would not follow the system (fyne-io/fyne#6056)
		w.build()
		for _, file := range o.Files {
			w.openPath(file)
		}
	})
	app.Lifecycle().SetOnStopped(w.stopped)
	w.win.SetContent(widget.NewLabel(""))
	w.win.Show()
	return w
}

func (w *Window) rememberedSize() fyne.Size {
	if w.remembered.Width == 0 {
		return fyne.NewSize(1240, 780)
	}
	return fyne.NewSize(w.remembered.Width, w.remembered.Height)
}

// rememberedValues are the settings of the last time, as far as they are valid.
func (w *Window) rememberedValues() view.Form {
	c, err := bench.LoadPreset("tiny")
	if len(w.remembered.Form) > 0 {
		c, err = bench.ParseArgs(bench.DefaultConfig(), w.remembered.Form)
	}
	if err != nil {
		c = bench.DefaultConfig()
	}
	return view.FormOf(c)
}

// build makes everything in the window, in the language there is now.
func (w *Window) build() {
	setSystemWords(w.say)
	look := func(simulated bool) report.Look {
		return report.Look{Language: w.reportLanguage(), Dark: w.dark(), Simulated: simulated}
	}
	w.form = newForm(w.say, w.win, w.keys, w.values, w.open, w.changed)
	w.bar = newBar(w.say, func() { w.start(bench.KindRun) }, func() { w.start(bench.KindCompare) },
		func() { w.start(bench.KindLadder) }, w.stop, w.moreActions())
	w.planText = caption("")
	w.status = widget.NewLabel("")
	w.status.Truncation = fyne.TextTruncateEllipsis
	w.device = badge("")
	w.notes = widget.NewLabel("")
	w.notes.Truncation = fyne.TextTruncateEllipsis
	w.overview = newOverview(w.say, w.border, look)
	w.timeline = newTimeline(w.say, w.border, look)
	w.memory = newMemory(w.say, w.border, look)
	w.past = newPast(w.say, w.win, w.border, w.options.History, w.keys, func(name string, r *bench.Result) { w.showResult(r, name) }, w.fail)
	w.remember()
	w.win.SetContent(w.layout())
	w.win.SetMainMenu(w.menu())
	w.win.Canvas().SetOnTypedKey(func(key *fyne.KeyEvent) { w.keys(key.Name) })
	w.showResult(w.result, w.name)
	w.bar.show(w.runner != nil)
	w.past.refresh()
	w.changed()
}

func (w *Window) layout() fyne.CanvasObject {
	selected := 0
	if w.tabs != nil {
		selected = w.tabs.SelectedIndex()
	}
	w.tabs = container.NewAppTabs(
		container.NewTabItem(w.say.Say("Overview"), w.overview.content),
		container.NewTabItem(w.say.Say("Timeline"), w.timeline.content),
		container.NewTabItem(w.say.Say("Memory"), w.memory.content),
		container.NewTabItem(w.say.Say("History"), w.past.content),
		container.NewTabItem(w.say.Say("Doctor"), newDoctor(w.say, w.border, w.options.Program, func() []string { return w.remembered.Form }).content),
		container.NewTabItem(w.say.Say("Guide"), newGuide(w.say, w.loadLesson)))
	w.tabs.SelectIndex(selected)
	left := container.NewBorder(nil, w.planText, nil, nil, w.form.content)
	w.split = container.NewHSplit(left, container.NewBorder(nil, w.notes, nil, nil, w.tabs))
	w.split.SetOffset(cmp.Or(w.remembered.Split, 0.3))
	bottom := container.NewBorder(widget.NewSeparator(), nil, w.device, nil, w.status)
	return container.NewBorder(w.bar.content, bottom, nil, nil, w.split)
}

// changed takes the form's values: marks what is wrong and asks for a plan.
func (w *Window) changed() {
	w.values = w.form.values
	c, problems := w.form.values.Read()
	w.form.mark(problems)
	w.bar.allow(len(problems) == 0)
	if len(problems) > 0 {
		w.planner.forget()
		w.showPlanText("⚠ "+strings.TrimSpace(w.say.Say("Some settings are not allowed: see the marked fields.")+" "+w.form.others(problems)), true)
		return
	}
	w.remembered.Form = c.Args()
	if w.runner == nil { // a run must not be disturbed
		w.planner.ask(c)
	}
}

// showPlan shows what the settings come to.
func (w *Window) showPlan(p plan) {
	w.plan = &p
	if p.failure != "" {
		w.showPlanText("⚠ "+p.failure, true)
	} else {
		w.showPlanText(strings.Join(view.PlanLines(w.say, p.plans, p.limits), "\n"), false)
	}
	w.showStatus()
}

func (w *Window) showPlanText(text string, wrong bool) {
	w.planText.Importance = widget.MediumImportance
	if wrong {
		w.planText.Importance = widget.DangerImportance
	}
	w.planText.SetText(text)
}

// showStatus renews the line at the bottom.
func (w *Window) showStatus() {
	var start *bench.StartInfo
	if w.plan != nil {
		start = w.plan.start
	}
	if w.runner != nil {
		if s := w.runner.State().Start; s != nil {
			start = s
		}
	}
	w.status.SetText(view.Status(w.say, w.host, start))
	w.device.Hide()
	if start != nil && start.Device.Simulated {
		w.device.SetText(w.say.Say("SIMULATED"))
		w.device.Show()
	}
}

// showResult shows a result on all pages; nil: there is none yet.
func (w *Window) showResult(r *bench.Result, name string) {
	w.result, w.name = r, name
	title := "Pinscope"
	if r == nil {
		w.overview.welcome()
	} else {
		w.overview.show(r)
		title = name + " - Pinscope"
	}
	w.timeline.show(r)
	w.memory.show(r)
	w.win.SetTitle(title)
	w.showStatus()
}

// loadConfig puts settings into the form.
func (w *Window) loadConfig(c bench.Config) {
	w.form.load(view.FormOf(c))
	w.changed()
}

func (w *Window) loadLesson(l view.Lesson) {
	c, err := l.Config()
	if err != nil {
		w.fail(err)
		return
	}
	w.loadConfig(c)
	w.note(w.say.Say("settings loaded: %s", l.Title))
}

// note shows a line under the pages.
func (w *Window) note(text string) { w.notes.SetText(text) }

// fail shows why something was not done.
func (w *Window) fail(err error) {
	text := wrapped(err.Error())
	d := dialog.NewCustom(w.say.Say("That did not work"), w.say.Say("Close"), text, w.win)
	d.Resize(fyne.NewSize(520, 160))
	d.Show()
}

// keys does what some keys mean everywhere; false: the key means nothing.
func (w *Window) keys(key fyne.KeyName) bool {
	switch key {
	case fyne.KeyEscape:
		if w.runner == nil {
			return false
		}
		w.stop()
	case fyne.KeyF1:
		w.tabs.SelectIndex(len(w.tabs.Items) - 1)
	default:
		return false
	}
	return true
}

// close asks before a run is lost, unless it is being stopped anyway.
func (w *Window) close() {
	switch {
	case w.runner == nil:
		w.win.Close()
		return
	case w.runner.State().Stopping:
		w.closing = true
		return
	}
	question := w.say.Say("A run is under way. Stop it, keep the repeats that are finished, and close?")
	confirm(w.win, w.say, w.say.Say("Close"), question, func() {
		if w.runner == nil { // it has ended meanwhile
			w.win.Close()
			return
		}
		w.closing = true
		w.stop()
	})
}

// stopped keeps what is to be remembered, and leaves nothing behind.
func (w *Window) stopped() {
	w.border.close()
	w.planner.forget()
	w.save()
	if w.runner != nil {
		w.runner.Stop()
		<-w.runner.Done()
	}
}

// remember notes the size of the window and how it is divided.
func (w *Window) remember() {
	if w.split != nil {
		size := w.win.Canvas().Size()
		w.remembered.Width, w.remembered.Height, w.remembered.Split = size.Width, size.Height, w.split.Offset
	}
}

// save writes what is remembered. That it cannot is no reason to bother the user.
func (w *Window) save() {
	w.remember()
	if err := w.remembered.Save(w.options.Settings); err != nil {
		fyne.LogError("the window's settings are not kept", err)
	}
}

// start starts a run or a comparison in the runner.
func (w *Window) start(kind bench.Kind) {
	c, problems := w.form.values.Read()
	if len(problems) > 0 || w.runner != nil {
		return
	}
	w.planner.forget()
	what := c.Device
	if c.Preset != "" {
		what = c.Preset + " " + what
	}
	w.running = w.options.History.NewFile(time.Now(), kind, what)
	args := append([]string{string(kind)}, view.Args(kind, c)...)
	runner, err := client.Start(w.options.Program, append(args, "--json", w.running)...)
	if err != nil {
		w.fail(err)
		return
	}
	w.runner = runner
	w.note("")
	w.tabs.SelectIndex(0)
	w.overview.running(nil, nil)
	w.bar.show(true)
	w.save()
	go w.follow(runner, w.running)
}

// stop asks the runner to end.
func (w *Window) stop() {
	if w.runner != nil {
		w.runner.Stop()
	}
}

// between is the shortest time between two looks at a run: what is measured must
// not notice that somebody watches.
const between = 450 * time.Millisecond

// follow shows a run until it ends. It runs on a goroutine of its own, which ends
// with the runner.
func (w *Window) follow(r *client.Runner, file string) {
	for ended := false; !ended; {
		select {
		case <-r.Changed():
		case <-r.Done():
		}
		state := r.State()
		w.border.do(func() { w.showState(r, state) })
		select {
		case <-time.After(between):
		case <-r.Done():
			ended = true
		}
	}
	outcome := r.Outcome()
	var saveErr error
	if outcome.Lost && outcome.Result != nil {
		saveErr = bench.WriteFile(file, outcome.Result.WriteJSON)
	}
	w.border.do(func() { w.ended(r, outcome, saveErr) })
}

func (w *Window) showState(r *client.Runner, s client.State) {
	if w.runner != r {
		return
	}
	progress := view.ProgressOf(w.say, s)
	w.bar.progress(progress)
	w.note(progress.Live)
	w.overview.live(progress.Stages)
	if shown := len(s.Repeats); shown != w.overview.repeats || len(s.Warnings) != w.overview.warnings {
		w.overview.repeats, w.overview.warnings = shown, len(s.Warnings)
		w.overview.running(s.Preview(), s.Warnings)
	}
	w.showStatus()
}

// ended shows what came of a run.
func (w *Window) ended(r *client.Runner, o client.Outcome, saveErr error) {
	if w.runner != r {
		return
	}
	w.runner = nil
	w.bar.show(false)
	w.overview.repeats, w.overview.warnings = 0, 0
	if saveErr != nil {
		w.fail(saveErr)
	}
	switch {
	case o.Result != nil && len(o.Result.Sides) > 0:
		w.showResult(o.Result, strings.TrimSuffix(filepath.Base(w.running), ".json"))
		w.note(w.say.Say("kept in the history: %s", w.name))
	default:
		w.overview.failed(cmp.Or(o.Failure, w.say.Say("stopped")))
	}
	if o.Failure != "" && o.Result != nil {
		w.note("⚠ " + o.Failure)
	}
	w.past.refresh()
	w.changed()
	if w.closing {
		w.win.Close()
	}
}

// dark says whether the window is dark now.
func (w *Window) dark() bool {
	looks, ok := w.app.Settings().Theme().(*looks)
	return ok && looks.effective(w.app.Settings().ThemeVariant()) == theme.VariantDark
}

func (w *Window) reportLanguage() report.Language {
	if w.say == words.Chinese {
		return report.Chinese
	}
	return report.English
}

// reportOptions are how files are drawn: on white, whatever the window is.
func (w *Window) reportOptions() report.Options {
	return report.Options{Language: w.reportLanguage()}
}
