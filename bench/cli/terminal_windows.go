package cli

import "golang.org/x/sys/windows"

// isTerminalFD asks for the mode, which only consoles have.
func isTerminalFD(fd uintptr) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(fd), &mode) == nil
}
