//go:build linux && cgo

package gpuwatch

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// childReport is what a process that opened the library on its own path saw.
type childReport struct {
	Error   string
	State   State
	Library Library
	Devices []Device
	CSV     string
}

// TestMain lets this program stand in for the child of the tests below: the
// loader reads LD_LIBRARY_PATH when a process starts.
func TestMain(m *testing.M) {
	if os.Getenv("GPUWATCH_CHILD") == "" {
		os.Exit(m.Run())
	}
	report := childReport{State: Ready}
	w, err := Open()
	if err == nil {
		report.Library, report.Devices = w.Library(), w.Devices()
		var s Sample
		s, err = w.Read(report.Devices[0])
		report.CSV = strings.Join(s.CSV(), ",")
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		report.Error = err.Error()
		var u *Unavailable
		if errors.As(err, &u) {
			report.State = u.State
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(report); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func runChild(t *testing.T, libraries string, env ...string) childReport {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), "GPUWATCH_CHILD=1", "LD_LIBRARY_PATH="+libraries), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("child: %v, said %q", err, out)
	}
	var report childReport
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	return report
}

// stub is a library of a few entry points, as an old or cut-down driver has.
const stub = `
#include <stdlib.h>
#include <string.h>
int nvmlInit_v2(void) { char *code = getenv("STUB_INIT"); return code ? atoi(code) : 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { static int card; *d = &card; return i ? 2 : 0; }
int nvmlDeviceGetUUID(void *d, char *s, unsigned n) { strncpy(s, "GPU-stub", n); return 0; }
int nvmlDeviceGetUtilizationRates(void *d, unsigned *u) { u[0] = u[1] = 0; return 3; /* NOT_SUPPORTED */ }
int nvmlDeviceGetMemoryInfo(void *d, unsigned long long *m) { m[0] = 1000; m[1] = 700; m[2] = 300; return 0; }
struct temperature { unsigned version, sensor; int celsius; };
int nvmlDeviceGetTemperatureV(void *d, struct temperature *t) { t->celsius = 42; return 0; }
`

func buildLibrary(t *testing.T, source, name string) (dir string) {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc to build the library with:", err)
	}
	dir = t.TempDir()
	file := filepath.Join(dir, "stub.c")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(gcc, "-shared", "-fPIC", "-o", filepath.Join(dir, name), file).CombinedOutput()
	if err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return dir
}

// C66: only the versioned name is there, and most of the symbols are not.
func TestVersionedNameAndMissingSymbols(t *testing.T) {
	dir := buildLibrary(t, stub, "libnvidia-ml.so.99")
	if err := os.Symlink("libnvidia-ml.so.99", filepath.Join(dir, "libnvidia-ml.so.1")); err != nil {
		t.Fatal(err)
	}
	r := runChild(t, dir)
	if r.Error != "" || len(r.Devices) != 1 || r.Devices[0].UUID != "GPU-stub" {
		t.Fatalf("%+v", r)
	}
	if r.Library.Name != "libnvidia-ml.so.1" || filepath.Base(r.Library.Path) != "libnvidia-ml.so.99" {
		t.Errorf("library %+v", r.Library)
	}
	if want := "0,,,300,1000,,,,,,,,,42,,"; r.CSV != want {
		t.Errorf("got  %s\nwant %s", r.CSV, want)
	}
}

func TestLibraryStates(t *testing.T) {
	good := buildLibrary(t, stub, "libnvidia-ml.so.1")
	empty := buildLibrary(t, "int unrelated;", "libnvidia-ml.so.1")
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "libnvidia-ml.so.1"), []byte("not a library\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, dir, env string
		state          State
		words          string
	}{
		{"works", good, "", Ready, ""},
		{"versions differ", good, "STUB_INIT=18", BadDriver, "restart the machine"},
		{"not running", good, "STUB_INIT=9", BadDriver, "not running"},
		{"no symbols", empty, "", BadDriver, "has no nvmlInit"},
		{"not a library", broken, "", BadDriver, "cannot be loaded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runChild(t, c.dir, c.env)
			if r.State != c.state || !strings.Contains(r.Error, c.words) || (c.words == "") != (r.Error == "") {
				t.Errorf("state %v, error %q; want %v with %q", r.State, r.Error, c.state, c.words)
			}
		})
	}
}

// C62: without a driver Open says so. With one this is a look at the real thing.
func TestThisMachine(t *testing.T) {
	w, err := Open()
	var u *Unavailable
	switch {
	case err == nil:
		defer w.Close()
		for _, d := range w.Devices() {
			s, err := w.Read(d)
			if err != nil || s.MemoryTotalBytes == nil {
				t.Errorf("%s: %+v, error %v", d, s, err)
			}
			t.Logf("%+v %s: %s", w.Library(), d, strings.Join(s.CSV(), ","))
		}
	case !errors.As(err, &u) || u.State == Ready || u.Reason == "":
		t.Errorf("error %v", err)
	case u.State == NoDriver && err.Error() != "gpuwatch: open: no NVIDIA driver found":
		t.Errorf("error %v", err)
	}
}
