package view

import (
	"fmt"
	"strings"

	"pinscope/bench"
	"pinscope/bench/loader"
	"pinscope/cudamem"
)

// PyTorch is the lines of a PyTorch script that match a configuration, as far as
// PyTorch has its settings; what it has not is said in a comment.
func PyTorch(c bench.Config) string {
	title := func(b bool) string {
		if b {
			return "True"
		}
		return "False"
	}
	args := []string{"dataset", fmt.Sprintf("batch_size=%d", c.Batch), "shuffle=" + title(c.Shuffle), fmt.Sprintf("num_workers=%d", c.Workers)}
	if c.Workers > 0 {
		args = append(args, fmt.Sprintf("prefetch_factor=%d", c.Prefetch), "persistent_workers="+title(c.KeepWorkers))
	}
	args = append(args, "pin_memory="+title(c.Pin != loader.PinOff), "drop_last="+title(c.DropLast))
	var b strings.Builder
	fmt.Fprintf(&b, "loader = DataLoader(%s)\n", strings.Join(args, ", "))
	for _, note := range beyondPyTorch(c) {
		fmt.Fprintf(&b, "# %s\n", note)
	}
	fmt.Fprintf(&b, "for inputs, labels in loader:\n")
	for _, name := range []string{"inputs", "labels"} {
		fmt.Fprintf(&b, "    %s = %s.to(device, non_blocking=%s)\n", name, name, title(c.NonBlocking))
	}
	return b.String()
}

func beyondPyTorch(c bench.Config) []string {
	var notes []string
	switch c.Pin {
	case loader.PinDirect:
		notes = append(notes, "Pinscope's workers fill pinned slots themselves; DataLoader copies each batch in its pin thread.")
	case loader.PinDataset:
		notes = append(notes, "Pinscope pins the whole data set once; DataLoader has no such setting.")
	}
	if c.CopyStream == loader.Dedicated {
		notes = append(notes, "Pinscope copies on a stream of its own: torch.cuda.Stream() around .to(), and wait_stream() before the step.")
	}
	if c.Pin != loader.PinOff && c.HostKind() != cudamem.Pinned && c.Pin != loader.PinDataset {
		notes = append(notes, "Pinscope's slots are "+c.HostKind().String()+" memory; PyTorch's are pinned.")
	}
	return notes
}
