package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pinscope/cudamem"
)

// npyFile writes an array of zeros, one byte a value.
func npyFile(t *testing.T, samples, rows, columns int) string {
	t.Helper()
	head := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d, %d), }", samples, rows, columns)
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	data := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head)))
	data = append(append(data, head...), make([]byte, samples*rows*columns)...)
	path := filepath.Join(t.TempDir(), "data.npy")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file brings its own shape and type: these are told, not the settings.
func TestNpyShapeIsTheFiles(t *testing.T) {
	c := settings(t, "source=npy:"+npyFile(t, 24, 5, 7), "batch=8", "workers=1")
	r, err := Run(context.Background(), c, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := r.Sides[0].Plan
	if p.Shape.String() != "5x7" || p.DType != cudamem.Uint8 || c.Shape.String() == "5x7" || c.DType == cudamem.Uint8 {
		t.Fatalf("plan %s %s, configured %s %s", p.Shape, p.DType, c.Shape, c.DType)
	}
	var text, rows, file bytes.Buffer
	if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "24 samples of 5x7 uint8") {
		t.Errorf("%v:\n%s", err, &text)
	}
	if err := r.WriteCSV(&rows); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(&rows).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"shape": "5x7", "dtype": "uint8"} {
		if got := table[1][slices.Index(table[0], name)]; got != want {
			t.Errorf("CSV: %s %s, want %s", name, got, want)
		}
	}
	if err := r.WriteJSON(&file); err != nil {
		t.Fatal(err)
	}
	read, err := ReadResult(&file)
	if err != nil {
		t.Fatal(err)
	}
	if p := read.Sides[0].Plan; p.Shape.String() != "5x7" || p.DType != cudamem.Uint8 {
		t.Errorf("read back: %s %s", p.Shape, p.DType)
	}
}

// A result file from before plans held the shape has that of the settings.
func TestShapeOfOlderFiles(t *testing.T) {
	c := settings(t, "shape=2x3", "dtype=float16")
	data, err := json.Marshal(&Result{Schema: SchemaVersion, Sides: []Side{{Config: c}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReadResult(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Sides[0].Plan; p.Shape.String() != "2x3" || p.DType != cudamem.Float16 {
		t.Errorf("%s %s", p.Shape, p.DType)
	}
}
