// Package locale sets the language of the environment for a moment.
//
// Fyne reads it while its packages are initialised, and again when translations
// are added, and complains on standard error about a locale such as C.UTF-8, in
// every command of the program (fyne-io/fyne#5271). So this package, when it is initialised,
// has the environment say C, which Fyne knows, and [Restore] undoes that.
//
// It comes before Fyne's packages since it imports syscall alone: of packages that
// are ready, Go initialises the one with the least path first, and Fyne's language
// package has to wait for text/template, whose path is greater than this one's.
package locale

import "syscall"

// variables are those that a language is read from; the first that is set counts.
var variables = [...]string{"LC_ALL", "LC_MESSAGES", "LANG"}

// before is LC_ALL as the user has it.
var (
	before    string
	beforeSet bool
)

func init() {
	before, beforeSet = syscall.Getenv(variables[0])
	if !understood(effective()) {
		_ = syscall.Setenv(variables[0], "C") // fails for impossible names alone
	}
}

func effective() string {
	for _, name := range variables {
		if value, _ := syscall.Getenv(name); value != "" {
			return value
		}
	}
	return ""
}

// understood is false for C and POSIX with something behind them.
func understood(locale string) bool {
	for _, name := range [...]string{"C.", "C@", "POSIX."} {
		if len(locale) >= len(name) && locale[:len(name)] == name {
			return false
		}
	}
	return true
}

// Restore gives the environment back to the user. It may be called again.
func Restore() {
	if beforeSet {
		_ = syscall.Setenv(variables[0], before)
	} else {
		_ = syscall.Unsetenv(variables[0])
	}
}

// As calls f with the environment asking for a locale such as zh_CN.UTF-8. The
// input of text keeps working only since this is undone: the system may not have
// that locale.
func As(locale string, f func()) {
	languages, set := syscall.Getenv("LANGUAGE")
	_ = syscall.Setenv(variables[0], locale)
	_ = syscall.Unsetenv("LANGUAGE")
	defer func() {
		Restore()
		if set {
			_ = syscall.Setenv("LANGUAGE", languages)
		}
	}()
	f()
}
