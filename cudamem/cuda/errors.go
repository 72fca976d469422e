//go:build cuda

package cuda

import (
	"fmt"

	"pinscope/cudamem"
)

// What helps against a code, whatever the call.
var cures = map[code][2]string{ // reason, cure
	outOfMemory:     {"the GPU's memory is full", "close other programs that use the GPU, or use a smaller batch, fewer slots or fewer features"},
	invalidContext:  {"this thread has no CUDA context", "the goroutine must call Device.Bind first"},
	notPermitted:    {"the driver does not permit it", "look at the driver's state with nvidia-smi, and at the container's permissions"},
	notSupported:    {"this GPU or driver does not support it", "choose another kind of memory"},
	oldDriver:       {"the driver is older than the kernels", "install NVIDIA driver 520 or newer"},
	invalidPTX:      {"the driver does not understand the kernels", "install NVIDIA driver 520 or newer"},
	launchFailed:    {"a kernel failed; the process cannot use the GPU any more", "start the program again"},
	illegalAddress:  {"a kernel used memory that is not there; the process cannot use the GPU any more", "start the program again"},
	operatingSystem: {"the operating system refused", ""},
}

// fail makes the error of a driver call about some bytes (0: about none); nil if err is.
func (d *device) fail(call string, bytes int64, err error) error {
	if err == nil {
		return nil
	}
	c := codeOf(err)
	e := &cudamem.Error{Op: call, Code: int(c), Bytes: bytes, Device: d.info.ID, Reason: cures[c][0], Cure: cures[c][1]}
	if c != 0 {
		e.CodeName = c.name()
	} else {
		e.Reason = err.Error()
	}
	return e
}

// failPin is fail for a call that page-locks: when it is short of something, that
// is not the GPU's memory.
func (d *device) failPin(call string, bytes int64, err error) error {
	e, ok := d.fail(call, bytes, err).(*cudamem.Error)
	if !ok {
		return nil
	}
	switch codeOf(err) {
	case outOfMemory, operatingSystem, notPermitted, notSupported:
		e.PinRefused = true
		e.Reason = "there is not enough host memory that can be locked"
		e.Cure = "use fewer or smaller slots, or free host memory; WSL2, containers and memory limits allow less than is free"
	}
	return e
}

// misuse is a call with arguments that cannot be.
func (d *device) misuse(call, format string, args ...any) error {
	return &cudamem.Error{Op: call, Device: d.info.ID, Reason: fmt.Sprintf(format, args...)}
}
