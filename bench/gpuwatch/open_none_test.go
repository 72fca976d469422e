//go:build !(linux && cgo)

package gpuwatch

import (
	"errors"
	"testing"
)

func TestOpenSaysWhyNot(t *testing.T) {
	w, err := Open()
	var u *Unavailable
	if w != nil || !errors.As(err, &u) || u.State != Unknown || u.Reason == "" {
		t.Errorf("got %v, error %v", w, err)
	}
}
