package trace

import "fmt"

// The names are what files, charts and the terminal show.
var stageNames = [Stages]string{
	WaitSlot:  "wait slot",
	Load:      "load",
	Collate:   "collate",
	PinWait:   "pin wait",
	RingWait:  "ring wait",
	PinCopy:   "pin copy",
	WaitBatch: "wait batch",
	CopyCall:  "copy call",
	WaitCopy:  "wait copy",
	WaitStep:  "wait step",
	Launch:    "launch",
	HtoD:      "htod",
	Gather:    "gather",
	Step:      "step",
}

var laneKindNames = [...]string{
	Worker:        "worker",
	PinThread:     "pin thread",
	Trainer:       "trainer",
	CopyEngine:    "copy engine",
	ComputeEngine: "compute engine",
}

// String is the name of the stage, such as "pin copy".
func (s Stage) String() string { return nameOf(stageNames[:], int(s), "stage") }

// MarshalText gives the stage's name; it fails for a value that is no stage.
func (s Stage) MarshalText() ([]byte, error) { return textOf(stageNames[:], int(s), "stage") }

// UnmarshalText takes a stage's name.
func (s *Stage) UnmarshalText(text []byte) error {
	i, err := indexOf(stageNames[:], text, "stage")
	*s = Stage(i)
	return err
}

// String is the name of the kind of lane, such as "copy engine".
func (k LaneKind) String() string { return nameOf(laneKindNames[:], int(k), "lane kind") }

// MarshalText gives the kind's name; it fails for a value that is no kind.
func (k LaneKind) MarshalText() ([]byte, error) {
	return textOf(laneKindNames[:], int(k), "lane kind")
}

// UnmarshalText takes the name of a kind of lane.
func (k *LaneKind) UnmarshalText(text []byte) error {
	i, err := indexOf(laneKindNames[:], text, "lane kind")
	*k = LaneKind(i)
	return err
}

func nameOf(names []string, i int, what string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", what, i)
}

func textOf(names []string, i int, what string) ([]byte, error) {
	if i < len(names) {
		return []byte(names[i]), nil
	}
	return nil, fmt.Errorf("trace: no %s has number %d", what, i)
}

func indexOf(names []string, text []byte, what string) (int, error) {
	for i, name := range names {
		if name == string(text) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("trace: no %s is named %q", what, text)
}
