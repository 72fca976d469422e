package cudamem

import (
	"errors"
	"fmt"
	"strings"
)

// Error is a call that a device refused.
type Error struct {
	Op       string // the call: "cuMemHostAlloc", "simulated copy"
	Code     int    // the driver's number; 0 where there is none
	CodeName string // "CUDA_ERROR_OUT_OF_MEMORY"
	Bytes    int64  // asked for; 0 where it does not apply
	Device   string // Info.ID
	Reason   string // what was short or wrong, in plain words
	Cure     string // what is likely to help, in plain words; may be empty

	// PinRefused marks host memory that could not be page-locked.
	PinRefused bool
}

func (e *Error) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s on %s", e.Op, e.Device)
	if e.Bytes > 0 {
		fmt.Fprintf(&s, " of %d bytes", e.Bytes)
	}
	if e.CodeName != "" {
		fmt.Fprintf(&s, ": %s (%d)", e.CodeName, e.Code)
	}
	if e.Reason != "" {
		s.WriteString(": " + e.Reason)
	}
	if e.Cure != "" {
		s.WriteString("; " + e.Cure)
	}
	return s.String()
}

// IsPinRefused says whether err is a refusal to page-lock host memory.
func IsPinRefused(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.PinRefused
}
