package locale

import (
	"os"
	"testing"
)

func TestUnderstood(t *testing.T) {
	for locale, want := range map[string]bool{"": true, "C": true, "POSIX": true, "C.UTF-8": false, "C.utf8": false,
		"POSIX.UTF-8": false, "en_US.UTF-8": true, "Cy": true} {
		if understood(locale) != want {
			t.Errorf("%q: %v", locale, !want)
		}
	}
}

func TestAsLeavesNothing(t *testing.T) {
	t.Setenv("LANGUAGE", "de:fr")
	was, wasSet := os.LookupEnv("LC_ALL")
	As("zh_CN.UTF-8", func() {
		if os.Getenv("LC_ALL") != "zh_CN.UTF-8" || os.Getenv("LANGUAGE") != "" {
			t.Errorf("LC_ALL %q, LANGUAGE %q", os.Getenv("LC_ALL"), os.Getenv("LANGUAGE"))
		}
	})
	if now, set := os.LookupEnv("LC_ALL"); set != beforeSet || now != before {
		t.Errorf("LC_ALL was %q (%v), is %q (%v)", was, wasSet, now, set)
	}
	if os.Getenv("LANGUAGE") != "de:fr" {
		t.Errorf("LANGUAGE %q", os.Getenv("LANGUAGE"))
	}
}
