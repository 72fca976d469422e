package view

import (
	"pinscope/bench"
	"pinscope/ui/words"
)

// Lesson is a page of the guide, with settings that show what it says.
type Lesson struct {
	Title string
	Text  string
	Try   string // what to press and what to look at
	Args  []string
}

// Config is the lesson's settings.
func (l Lesson) Config() (bench.Config, error) { return bench.ParseArgs(bench.DefaultConfig(), l.Args) }

// Lessons are the guide. The settings name a simulated GPU, so that each shows
// the same on every machine.
func Lessons(l words.Language) []Lesson {
	return []Lesson{
		{
			Title: l.Say("1. What a page-locked page is"),
			Text: l.Say("Memory comes in pages, of 4 KiB mostly. The system may move a page or write it to disk while a program runs. " +
				"A GPU's copy engine reads memory by itself and does not notice: it needs pages that stay where they are. " +
				"Such pages are page-locked, or pinned."),
			Try:  l.Say("Compare. B fills pinned slots and A does not; the memory page shows how many bytes are pinned."),
			Args: []string{"--preset", "tiny", "--device", "sim:laptop"},
		},
		{
			Title: l.Say("2. Why pageable copies are staged"),
			Text: l.Say("From pageable memory the driver cannot copy directly. It copies each piece into a pinned buffer of its own first, with the CPU, " +
				"and the copy call returns only when that is done. So the bytes travel twice, and the training loop waits."),
			Try:  l.Say("Compare, then look at the stage copy call: long for A, short for B."),
			Args: []string{"--samples", "320", "--batch", "32", "--workers", "2", "--device", "sim:rtx3060", "--pin", "direct", "--shape", "3x128x128"},
		},
		{
			Title: l.Say("3. non_blocking without pinning"),
			Text: l.Say("non_blocking=True asks the copy to go on by itself. From pageable memory it cannot: the driver still stages the bytes before the call returns. " +
				"The setting alone changes next to nothing."),
			Try:  l.Say("Run with pin off, and look at the stage copy call. Then choose pin direct and run again."),
			Args: []string{"--samples", "320", "--batch", "32", "--workers", "2", "--device", "sim:rtx3060", "--pin", "off", "--shape", "3x128x128", "--non-blocking"},
		},
		{
			Title: l.Say("4. Overlap"),
			Text: l.Say("A copy and a step can run at the same time if three things are there: a pinned source, a stream of its own for the copy, and a free copy engine. " +
				"With one of them missing, the copy waits for the step or the step for the copy."),
			Try:  l.Say("Run, and look at the timeline: the copies lie under the steps. Then choose the shared copy stream and run again: copies and steps take turns."),
			Args: []string{"--samples", "320", "--batch", "32", "--workers", "2", "--device", "sim:rtx3060", "--pin", "direct", "--copy-stream", "dedicated", "--shape", "3x128x128", "--sim", "compute=2ms"},
		},
		{
			Title: l.Say("5. When pinning does not pay"),
			Text: l.Say("If loading takes longer than everything else, the GPU waits for data whatever the copies cost. Then no measurable difference is the right answer, " +
				"and more workers or a faster source are what helps."),
			Try:  l.Say("Compare: each batch takes 20 ms to load. The interval holds 0 %."),
			Args: []string{"--source", "delay:20ms", "--samples", "256", "--batch", "32", "--workers", "2", "--device", "sim:rtx3060", "--shape", "3x64x64", "--epochs", "1"},
		},
		{
			Title: l.Say("6. What pinning costs"),
			Text: l.Say("Pinned pages cannot be reclaimed: they are taken from the page cache and from other programs until the run ends. Pinning takes time as well. " +
				"The whole data set can be pinned, which is the fastest way and the dearest."),
			Try:  l.Say("Compare. The plan line says what would be pinned, of how much at most."),
			Args: []string{"--samples", "320", "--batch", "32", "--workers", "2", "--device", "sim:rtx3060", "--pin", "dataset", "--shape", "3x128x128"},
		},
	}
}
