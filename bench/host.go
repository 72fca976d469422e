package bench

import (
	"os"
	"runtime"
	"runtime/debug"
)

// Tool is the program that made a result.
type Tool struct {
	Version string `json:"version"` // module version or commit; "devel" when neither was recorded
	Build   string `json:"build"`   // operating system, architecture, build tags
	Go      string `json:"go"`
}

// Host is the machine a result was made on.
type Host struct {
	Name        string `json:"name"`
	OS          string `json:"os"`
	Kernel      string `json:"kernel,omitempty"`
	CPU         string `json:"cpu,omitempty"`
	CPUs        int    `json:"cpus"`         // usable by the process
	MemoryBytes *int64 `json:"memory_bytes"` // of the machine
}

// ThisTool describes the running program.
func ThisTool() Tool {
	t := Tool{Version: "devel", Build: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		t.Version = v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "-tags" && s.Value != "":
			t.Build += ", tags " + s.Value
		case s.Key == "vcs.revision" && t.Version == "devel":
			t.Version = "devel " + s.Value[:min(12, len(s.Value))]
		}
	}
	return t
}

// ThisHost describes the machine.
func ThisHost() Host {
	h := Host{OS: runtime.GOOS, CPUs: runtime.NumCPU()}
	h.Name, _ = os.Hostname()
	h.addSystem()
	return h
}
