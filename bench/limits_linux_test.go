package bench

import (
	"os"
	"path/filepath"
	"testing"
)

// What the kernel writes under version 2 and 1 of control groups: 1000 bytes,
// 300 of them page cache that it can drop.
func TestCgroupUse(t *testing.T) {
	cases := []struct {
		name              string
		file, text, stat  string // stat "": no such file
		readFile, readKey string
		want              int64
		ok                bool
	}{
		{"version 2", "memory.current", "1000\n", "anon 700\ninactive_file 300\n", "memory.current", "inactive_file", 700, true},
		{"version 1", "memory.usage_in_bytes", "1000\n", "inactive_file 1\ntotal_inactive_file 300\n", "memory.usage_in_bytes", "total_inactive_file", 700, true},
		{"more cache than use", "memory.current", "100\n", "inactive_file 300\n", "memory.current", "inactive_file", 0, true},
		{"no statistics", "memory.current", "1000\n", "", "memory.current", "inactive_file", 1000, true},
		{"not a number", "memory.current", "max\n", "", "memory.current", "inactive_file", 0, false},
		{"not there", "other", "1\n", "", "memory.current", "inactive_file", 0, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			folder := t.TempDir()
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(tc.file, tc.text)
			if tc.stat != "" {
				write("memory.stat", tc.stat)
			}
			if got, ok := readCgroupUse(folder, tc.readFile, tc.readKey); got != tc.want || ok != tc.ok {
				t.Errorf("got %d, %v, want %d, %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}
