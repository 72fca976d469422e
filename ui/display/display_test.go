package display

import (
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name    string
		env     map[string]string
		listens string // the address that answers
		want    string // what the sentence holds; "": a window can be opened
	}{
		{name: "nothing set", want: "DISPLAY is not set"},
		{name: "wayland alone", env: map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, want: "Wayland session without XWayland"},
		{name: "no server", env: map[string]string{"DISPLAY": ":99"}, want: "nothing answers at DISPLAY=:99"},
		{name: "nonsense", env: map[string]string{"DISPLAY": "screen"}, want: "DISPLAY=screen names no display"},
		{name: "nonsense number", env: map[string]string{"DISPLAY": ":x"}, want: "names no display"},
		{name: "socket", env: map[string]string{"DISPLAY": ":3.1"}, listens: "unix /tmp/.X11-unix/X3"},
		{name: "abstract socket", env: map[string]string{"DISPLAY": "unix:3"}, listens: "unix @/tmp/.X11-unix/X3"},
		{name: "another machine", env: map[string]string{"DISPLAY": "desk:10.0"}, listens: "tcp desk:6010"},
		{name: "ssh", env: map[string]string{"DISPLAY": "localhost:10.0"}, listens: "tcp localhost:6010"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := check(func(name string) string { return c.env[name] }, func(network, address string) error {
				if network+" "+address == c.listens {
					return nil
				}
				return errors.New("connection refused")
			})
			switch {
			case c.want == "" && err != nil:
				t.Errorf("error %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "pinscope compare --preset") || strings.Contains(err.Error(), "\n")):
				t.Errorf("error %v, want one sentence with %q and the headless command", err, c.want)
			}
		})
	}
}

// TestAnswers: a server that takes connections and hangs up is none.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply string
		want  bool
	}{{"refuses entry", "\x00", true}, {"hangs up", "", false}} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "X")
			listener, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			go func() {
				connection, err := listener.Accept()
				if err == nil {
					_, _ = connection.Read(make([]byte, len(greeting)))
					_, _ = connection.Write([]byte(c.reply))
					connection.Close()
				}
			}()
			if err := answers("unix", path); (err == nil) != c.want {
				t.Errorf("error %v", err)
			}
		})
	}
	if answers("unix", filepath.Join(t.TempDir(), "none")) == nil {
		t.Error("nobody is there, and an answer came")
	}
}
