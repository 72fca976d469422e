package bench

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// savedResult is a result file of a short comparison.
func savedResult(t testing.TB) []byte {
	t.Helper()
	r := &Result{Schema: SchemaVersion, Kind: KindCompare, Complete: true, Sides: []Side{replay("A", 1000, 0), replay("B", 1100, 0)}}
	for i := range r.Sides {
		r.Sides[i].Config = DefaultConfig()
	}
	r.compare()
	var out bytes.Buffer
	if err := r.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDamagedResultsAreRefused(t *testing.T) {
	whole := string(savedResult(t))
	if _, err := ReadResult(strings.NewReader(whole)); err != nil {
		t.Fatalf("whole: %v", err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"no such repeat", `"typical_repeat": 0`, `"typical_repeat": 6`, "has no repeat 6"},
		{"before the first", `"typical_repeat": 0`, `"typical_repeat": -1`, "has no repeat -1"},
		{"a trace of nothing", `"typical_repeat": 0`, `"typical_repeat": null`, "not both"},
		{"later schema", `"schema": 1`, `"schema": 2`, "a newer Pinscope"},
		{"no schema", `"schema": 1`, `"schema": 0`, "no schema version"},
		{"text for a number", `"schema": 1`, `"schema": "1"`, "not a result file"},
		{"cut off", `"sides"`, `"si`, "not a result file"},
	} {
		damaged := strings.Replace(whole, c.old, c.new, 1)
		if damaged == whole {
			t.Fatalf("%s: nothing was changed", c.name)
		}
		if _, err := ReadResult(strings.NewReader(damaged)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
}

// FuzzReadResult: what is read can be shown in every form without a panic.
func FuzzReadResult(f *testing.F) {
	whole := savedResult(f)
	f.Add(whole)
	f.Add([]byte(`{"schema":1,"kind":"run","sides":[{}]}`))
	f.Add([]byte(`{"schema":1,"kind":"ladder","sides":[{},{}],"ladder":{}}`))
	f.Add([]byte(`{"schema":1,"kind":"sweep","sides":[{}],"sweep":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ReadResult(bytes.NewReader(data))
		if err != nil {
			return
		}
		_, _, _, _ = r.Text(io.Discard), r.WriteCSV(io.Discard), r.WriteTrace(io.Discard), r.WriteJSON(io.Discard)
	})
}
