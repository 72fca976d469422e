package bench

import (
	"errors"
	"slices"
	"strconv"
)

// blame puts a refusal for lack of memory under the setting that was raised most
// over its preset, of those that would lower what is needed: that is the one the
// user has just typed. Without one it stays where it is.
func (c Config) blame(settings []string, err error) error {
	var input *InputError
	if !errors.As(err, &input) || !slices.Contains(settings, input.Field) {
		return err
	}
	base := DefaultConfig()
	if preset, ok := builtinPreset(c.Preset, base.Workers); ok {
		base = preset.Config
	}
	named, most := *input, 1.0
	before := base.settings()
	for i, s := range c.settings() {
		now, err := strconv.ParseFloat(s.value, 64)
		if err != nil || !slices.Contains(settings, s.flag) {
			continue
		}
		then, _ := strconv.ParseFloat(before[i].value, 64)
		if raised := now / max(then, 1); raised > most {
			named.Field, most = s.flag, raised
		}
	}
	return &named
}
