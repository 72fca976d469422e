//go:build cuda

package cuda

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"pinscope/cudamem"
)

// initialised marks the process that TestInitFails starts: it should not get to main.
const initialised = "PINSCOPE_TEST_INITIALISED"

func TestMain(m *testing.M) {
	if os.Getenv(initialised) != "" {
		fmt.Println("cuInit let the process start")
		return
	}
	if all, err := List(); err == nil && len(all) > 0 {
		fmt.Printf("device: %s, driver %s\n", all[0].Name, all[0].Driver)
	}
	os.Exit(m.Run())
}

// open opens the device for a test, binds the test's goroutine and, at the end, sees that
// nothing is left page-locked.
func open(t testing.TB) *device {
	t.Helper()
	before := cudamem.ReadLedger().PinnedBytes
	d, err := Open("cuda", cudamem.NewPlainClock())
	if err != nil {
		t.Fatal(err)
	}
	bind(t, d)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("close again: %v", err)
		}
		if left := cudamem.ReadLedger().PinnedBytes - before; left != 0 {
			t.Errorf("%d bytes are still page-locked", left)
		}
	})
	return d.(*device)
}

// bind makes the goroutine of a test able to use d, until what the test cleans up is
// cleaned up. Each t.Run has a goroutine of its own.
func bind(t testing.TB, d cudamem.Device) {
	t.Helper()
	release, err := d.Bind()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
}

// overStandIn says whether the driver is the stand-in.
func overStandIn(d *device) bool { return strings.HasPrefix(d.info.Name, "stand-in") }

// needStandIn skips a test that needs a driver that fails on demand, and makes it so.
func needStandIn(t *testing.T, d *device, setting, value string) {
	t.Helper()
	if !overStandIn(d) {
		t.Skip("a real driver does not fail on demand")
	}
	t.Setenv(setting, value)
}

// slowCopies makes copies take milliseconds: a real GPU's do for so many bytes.
func slowCopies(t *testing.T, d *device) (bytes int64) {
	if overStandIn(d) {
		t.Setenv("PINSCOPE_STANDIN_COPY_US", "20000")
		return 1 << 20
	}
	return 256 << 20
}

// unbound runs f on a thread that has no context.
func unbound(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		f()
	}()
	<-done
}

func TestInitFails(t *testing.T) {
	if d := open(t); !overStandIn(d) {
		t.Skip("a real driver does not fail on demand")
	}
	for _, code := range []string{"100", "803", "999"} { // no device, driver mismatch, unknown
		t.Run(code, func(t *testing.T) {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), initialised+"=1", "PINSCOPE_STANDIN_FAIL=cuInit:1:"+code)
			out, err := c.CombinedOutput()
			if err == nil || c.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "Error in initialization") {
				t.Errorf("got %v, %q; cu ends the process with 1 and says why", err, out)
			}
		})
	}
}

func TestMissingContext(t *testing.T) {
	d := open(t)
	unbound(func() {
		_, err := d.AllocDevice(1)
		e, ok := err.(*cudamem.Error)
		if !ok || e.Code != int(invalidContext) || e.CodeName != "CUDA_ERROR_INVALID_CONTEXT" || !strings.Contains(e.Cure, "Bind") {
			t.Errorf("on a thread without a context: %v", err)
		}
		_, err = d.AllocHost(cudamem.Pinned, 1)
		if err == nil || cudamem.IsPinRefused(err) {
			t.Errorf("a missing context is not a refusal to page-lock: %v", err)
		}
		release, err := d.Bind()
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.AllocDevice(1)
		if err != nil {
			t.Errorf("on a bound thread: %v", err)
		} else if err := b.Free(); err != nil {
			t.Error(err)
		}
		release()
		if _, err := d.AllocDevice(1); err == nil {
			t.Error("release left the context current")
		}
	})
}

func TestPinRefused(t *testing.T) {
	for _, c := range []struct {
		kind    cudamem.HostKind
		call    string
		code    int
		refused bool
	}{
		{cudamem.Pinned, "cuMemHostAlloc", 2, true},
		{cudamem.Mapped, "cuMemHostAlloc", 2, true},
		{cudamem.WriteCombined, "cuMemHostAlloc", 304, true},
		{cudamem.Registered, "cuMemHostRegister", 2, true},
		{cudamem.Registered, "cuMemHostGetDevicePointer", 1, false},
		{cudamem.Pinned, "cuMemHostAlloc", 201, false},
		{cudamem.Managed, "cuMemAllocManaged", 2, false},
	} {
		t.Run(fmt.Sprintf("%v %s %d", c.kind, c.call, c.code), func(t *testing.T) {
			d := open(t)
			// The second: the first is let through, as a loader's ring would see it.
			needStandIn(t, d, "PINSCOPE_STANDIN_FAIL", fmt.Sprintf("%s:2:%d", c.call, c.code))
			first, err := d.AllocHost(c.kind, 5000)
			if err != nil {
				t.Fatal(err)
			}
			defer first.Free()
			_, err = d.AllocHost(c.kind, 5000)
			if err == nil {
				t.Fatal("no error")
			}
			if got := cudamem.IsPinRefused(err); got != c.refused {
				t.Errorf("pin refused: %v, want %v: %v", got, c.refused, err)
			}
			if says := strings.Contains(err.Error(), "host memory that can be locked"); says != c.refused {
				t.Errorf("it says %q", err)
			}
			if c.refused && strings.Contains(err.Error(), "GPU") {
				t.Errorf("a refused pin is not about the GPU's memory: %q", err)
			}
			if e := err.(*cudamem.Error); e.Op != c.call || e.Code != c.code || e.Device != "cuda:0" || e.Bytes != 8192 {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestLaunchFails(t *testing.T) {
	d := open(t)
	needStandIn(t, d, "PINSCOPE_STANDIN_FAIL", "cuLaunchKernel:5:719")
	l := newLayer(t, d, cudamem.LinearSpec{Features: 8, Classes: 2, MaxRows: 4, Input: cudamem.Float32, Cells: 1})
	s := newStream(t, d)
	batch := newDevice(t, d, 4*8*4+4*8)
	if err := l.Step(s, batch, 32, 0, 8, 4, 0); err != nil { // launches 1 to 3
		t.Fatal(err)
	}
	err := l.Step(s, batch, 32, 0, 8, 4, 0)
	if e, ok := err.(*cudamem.Error); !ok || e.Code != 719 || !strings.HasPrefix(e.Op, "cuLaunchKernel") {
		t.Errorf("got %v", err)
	}
	if err := s.Synchronize(); err != nil {
		t.Error(err)
	}
}

// An allocation that fails in the middle leaves nothing behind: open checks the ledger.
func TestConstructorsFreeOnError(t *testing.T) {
	for _, fail := range []string{
		"cuMemAlloc:1:2", "cuMemAlloc:3:2", "cuMemHostAlloc:1:2", "cuMemcpyHtoD:1:719", "cuMemsetD8:1:719", "cuModuleLoadData:1:218",
	} {
		t.Run(fail, func(t *testing.T) {
			d := open(t)
			needStandIn(t, d, "PINSCOPE_STANDIN_FAIL", fail)
			if _, err := d.NewLinear(cudamem.LinearSpec{Features: 8, Classes: 2, MaxRows: 4, Cells: 1}); err == nil {
				t.Error("no error")
			}
		})
	}
	t.Run("open", func(t *testing.T) {
		d := open(t)
		needStandIn(t, d, "PINSCOPE_STANDIN_FAIL", "cuModuleGetFunction:2:500")
		if _, err := Open("cuda", cudamem.NewPlainClock()); err == nil {
			t.Error("no error")
		}
	})
}

func TestOpen(t *testing.T) {
	all, err := List()
	if err != nil {
		t.Fatal(err)
	}
	if overStandIn(open(t)) { // its second device is a MIG instance
		for i, want := range []string{
			"GPU-10101010-1010-1010-1010-101010101010", "MIG-abababab-abab-abab-abab-abababababab",
		} {
			if all[i].UUID != want {
				t.Errorf("device %d is %s, want %s", i, all[i].UUID, want)
			}
		}
	}
	for i, info := range all {
		for _, id := range []string{fmt.Sprintf("cuda:%d", i), "cuda:" + info.UUID, "cuda:" + info.PCIAddress} {
			d, err := Open(id, cudamem.NewPlainClock())
			if err != nil {
				t.Errorf("%s: %v", id, err)
				continue
			}
			if got := d.Info(); got.ID != id || got.UUID != info.UUID || got.Name == "" || got.MemoryBytes == 0 || got.Simulated || got.Driver == "" {
				t.Errorf("%s is %+v", id, got)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	for _, id := range []string{"cuda:99", "cuda:GPU-00000000-0000-0000-0000-000000000001", "cuda:ffff:ff:00.0"} {
		if _, err := Open(id, cudamem.NewPlainClock()); err == nil {
			t.Errorf("%s: opened", id)
		}
	}
}
