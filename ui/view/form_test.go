package view

import (
	"reflect"
	"strings"
	"testing"

	"pinscope/bench"
	"pinscope/ui/words"
)

// TestFormKeepsEverything: what the form shows of a configuration is read as that
// configuration again.
func TestFormKeepsEverything(t *testing.T) {
	configs := map[string]bench.Config{}
	for _, p := range bench.Presets() {
		configs[p.Name] = p.Config
	}
	odd, err := bench.ParseArgs(bench.DefaultConfig(), []string{"--source", "delay:20ms", "--sim", "compute=2ms,latency=6us",
		"--device", "sim:rtx3060", "--max-pinned", "512MiB", "--no-shuffle", "--seed", "18446744073709551615", "--learning-rate", "0.125"})
	if err != nil {
		t.Fatal(err)
	}
	configs["odd"] = odd
	for name, want := range configs {
		t.Run(name, func(t *testing.T) {
			got, problems := FormOf(want).Read()
			if len(problems) > 0 {
				t.Fatalf("problems %v", problems)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

// TestFormHasEveryField: no setting is left out of the form, and each says what it does.
func TestFormHasEveryField(t *testing.T) {
	form := FormOf(bench.DefaultConfig())
	delete(form, "preset") // is above the sections
	for _, s := range Sections(words.English) {
		for _, f := range s.Fields {
			if _, ok := form[f.Flag]; !ok {
				t.Errorf("%s is no setting, or is there twice", f.Flag)
			}
			delete(form, f.Flag)
			if f.Hint == "" || strings.Contains(f.Hint, "Default") || strings.Contains(f.Hint, "${") {
				t.Errorf("%s: hint %q", f.Flag, f.Hint)
			}
		}
	}
	for flag := range form {
		t.Errorf("no field for %s", flag)
	}
}

func TestFormProblems(t *testing.T) {
	for _, c := range []struct {
		name   string
		change map[string]string
		want   map[string]string // by flag, a part of what is said
	}{
		{"least", map[string]string{"batch": "1"}, nil},
		{"below", map[string]string{"batch": "0"}, map[string]string{"batch": "allowed is 1 to 2147483647"}},
		{"no number", map[string]string{"workers": "many"}, map[string]string{"workers": `"many" is not allowed; allowed is 0 to 4096`}},
		{"empty", map[string]string{"repeats": ""}, map[string]string{"repeats": "allowed is 1 to 10000"}},
		{"two at once", map[string]string{"shape": "3x", "seed": "-1"}, map[string]string{"shape": "dimensions", "seed": "allowed is 0 to"}},
		{"two that can be read", map[string]string{"batch": "0", "epochs": "0"}, map[string]string{"batch": "1 to", "epochs": "1 to"}},
		{"combination", map[string]string{"pin": "off", "ring-slots": "4"}, map[string]string{"ring-slots": "no ring"}},
		{"spaces", map[string]string{"batch": " 8 "}, nil},
		{"too large together", map[string]string{"shape": "65536x65536", "batch": "2147483647"}, map[string]string{"batch": "too large"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			form := FormOf(bench.DefaultConfig())
			for flag, text := range c.change {
				form[flag] = text
			}
			_, problems := form.Read()
			if len(problems) != len(c.want) {
				t.Errorf("problems %v", problems)
			}
			for flag, part := range c.want {
				if !strings.Contains(problems[flag], part) || strings.HasPrefix(problems[flag], flag) {
					t.Errorf("%s: %q, want %q in it and not the field's name", flag, problems[flag], part)
				}
			}
		})
	}
}

func TestSource(t *testing.T) {
	for source, want := range map[string][2]string{"cached": {"cached", ""}, "npy:/a:b.npy": {"npy", "/a:b.npy"}, "delay:20ms": {"delay", "20ms"}} {
		kind, argument := SplitSource(source)
		if kind != want[0] || argument != want[1] || JoinSource(kind, argument) != source {
			t.Errorf("%s: %q %q, joined %q", source, kind, argument, JoinSource(kind, argument))
		}
	}
	if got := JoinSource("cached", "left over"); got != "cached" {
		t.Errorf("joined %q", got)
	}
}

// TestLessons: the settings of every lesson are allowed.
func TestLessons(t *testing.T) {
	lessons := Lessons(words.English)
	if len(lessons) != 6 {
		t.Errorf("%d lessons, want 6", len(lessons))
	}
	for _, lesson := range lessons {
		c, err := lesson.Config()
		if err == nil {
			err = c.Validate()
		}
		if err != nil || !strings.HasPrefix(c.Device, "sim:") {
			t.Errorf("%s: %v, device %s", lesson.Title, err, c.Device)
		}
	}
}
