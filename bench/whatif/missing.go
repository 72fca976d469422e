package whatif

import (
	"fmt"

	"pinscope/bench"
	"pinscope/bench/trace"
)

// MissingError says that nothing is known of how long something takes; measuring,
// as [Calibrate] does, finds out. It is a *bench.InputError too.
type MissingError struct{ input *bench.InputError }

func (e *MissingError) Error() string { return e.input.Error() }

// Unwrap gives the *bench.InputError.
func (e *MissingError) Unwrap() error { return e.input }

// missing is the time of a stage that is not known.
func missing(stage trace.Stage) error {
	return &MissingError{&bench.InputError{Field: "stage", Problem: fmt.Sprintf(
		"nothing says how long %s takes; give --stage %s=TIME for a full batch, or predict from a result that measured it", stage, stage)}}
}

// noModel is a device of which nothing is known.
func noModel(id string) error {
	return &MissingError{&bench.InputError{Field: "device", Value: id, Problem: id +
		" has no model; predict from a result that was measured on it"}}
}
