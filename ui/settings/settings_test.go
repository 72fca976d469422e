package settings

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "window.json")
	if got := Load(file); !reflect.DeepEqual(got, Settings{}) {
		t.Errorf("without a file: %+v", got)
	}
	want := Settings{Language: "zh-Hans", Variant: "dark", Percent: 125, Width: 1000, Height: 560, Split: 0.3, Form: []string{"--batch", "8"}}
	if err := want.Save(file); err != nil {
		t.Fatal(err)
	}
	if got := Load(file); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, text := range []string{"", "{", `{"width":"wide"}`, `{"width":1e9,"height":5,"split":2,"scale_percent":-1}`} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := Load(file); !reflect.DeepEqual(got, Settings{}) {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
