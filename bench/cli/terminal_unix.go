//go:build unix

package cli

import "golang.org/x/sys/unix"

// isTerminalFD asks for the size, which of all devices only terminals have.
func isTerminalFD(fd uintptr) bool {
	_, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
	return err == nil
}
