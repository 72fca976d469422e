// Package display says whether a window can be opened, before the window library
// is started: that one ends in a stack trace where there is no display.
package display

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// instead is what to do without a display.
const instead = "without a window, use for instance: pinscope compare --preset article"

// Check is nil where a window can be opened. The error is one sentence that says
// why not, and what works without a window.
func Check() error {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return nil
	}
	return check(os.Getenv, answers)
}

func check(env func(string) string, answers func(network, address string) error) error {
	display := env("DISPLAY")
	if display == "" {
		if env("WAYLAND_DISPLAY") != "" {
			return errors.New("no display: this is a Wayland session without XWayland (DISPLAY is not set); " + instead)
		}
		return errors.New("no display: DISPLAY is not set; " + instead)
	}
	places, err := addresses(display)
	if err != nil {
		return fmt.Errorf("no display: %w; %s", err, instead)
	}
	for _, place := range places {
		if err = answers(place.network, place.address); err == nil {
			return nil
		}
	}
	return fmt.Errorf("no display: nothing answers at DISPLAY=%s (%w); %s", display, err, instead)
}

type place struct{ network, address string }

// addresses are where the X server of a DISPLAY such as ":0", "host:10.0" or
// "unix:1" listens (X(7), "Display names").
func addresses(display string) ([]place, error) {
	colon := strings.LastIndexByte(display, ':')
	if colon < 0 {
		return nil, fmt.Errorf("DISPLAY=%s names no display", display)
	}
	host := display[:colon]
	number, _, _ := strings.Cut(display[colon+1:], ".")
	n, err := strconv.ParseUint(number, 10, 15)
	if err != nil {
		return nil, fmt.Errorf("DISPLAY=%s names no display", display)
	}
	if strings.HasPrefix(host, "/") { // a socket's path, as XQuartz has it
		return []place{{"unix", display}}, nil
	}
	socket := fmt.Sprintf("/tmp/.X11-unix/X%d", n)
	local := []place{{"unix", "@" + socket}, {"unix", socket}}
	const firstPort = 6000
	remote := place{"tcp", net.JoinHostPort(strings.TrimPrefix(host, "tcp/"), strconv.FormatUint(firstPort+n, 10))}
	switch host {
	case "", "unix":
		return local, nil
	case "localhost":
		return append([]place{remote}, local...), nil
	}
	return []place{remote}, nil
}

// greeting begins a connection to an X server: little-endian, protocol 11.0, with
// no right to enter. Every server answers it, be it by a refusal.
var greeting = []byte{'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0}

// answers is nil if an X server answers within two seconds.
func answers(network, address string) error {
	connection, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return cause(err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return err
	}
	if _, err := connection.Write(greeting); err != nil {
		return cause(err)
	}
	if _, err := connection.Read(make([]byte, 1)); err != nil {
		return cause(err)
	}
	return nil
}

// cause is an error without address and operation.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var system *os.SyscallError
	if errors.As(err, &system) {
		err = system.Err
	}
	return err
}
