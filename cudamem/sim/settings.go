package sim

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// setting is one key of --sim.
type setting struct {
	key, want string
	value     interface {
		parse(text string) error // leaves the value alone if it fails
		text() string            // as parse takes it
	}
}

func (m *Model) settings() []setting {
	return []setting{
		{"link-gbps", "GB/s from 0.001 to 1e9, or inf", (*rate)(&m.LinkGBps)},
		{"latency", "a duration from 0 to 1h, such as 6us", (*span)(&m.Latency)},
		{"pageable-gbps", "GB/s from 0.001 to 1e9, inf, or 0 for really staging", (*rateOrZero)(&m.PageableGBps)},
		{"ramp", "GB/s of successive copies, such as 3:6:12, or 0 for none", (*rates)(&m.Ramp)},
		{"copy-engines", "a number from 1 to 16", (*count)(&m.CopyEngines)},
		{"compute", "a duration from 0 to 1h, such as 12.845ms, or roofline", (*compute)(m)},
		{"launch", "a duration from 0 to 1h, such as 5us", (*span)(&m.Launch)},
		{"tflops", "TFLOP/s from 0.001 to 1e9, or inf", (*rate)(&m.TFLOPS)},
		{"mem-gbps", "GB/s from 0.001 to 1e9, or inf", (*rate)(&m.MemGBps)},
		{"memory", "a size above 0, such as 8GiB", (*size)(&m.MemoryBytes)},
		{"pin-limit", "a size such as 500MiB, or 0 for none", (*sizeOrZero)(&m.PinLimit)},
		{"pin-s-per-gib", "seconds from 0 to 3600; 0 for what locking takes on this machine", (*seconds)(&m.PinSecPerGiB)},
		{"jitter", "a fraction from 0 to below 1, such as 0.05 or 5%", (*fraction)(&m.Jitter)},
		{"seed", "a number from 0 to 2^64-1", (*seed)(&m.Seed)},
	}
}

// Set changes one value of the model, spelled as in --sim KEY=VALUE. An error
// names the key, the value and what is allowed, and leaves the model as it was.
func (m *Model) Set(key, value string) error {
	var allowed []string
	for _, s := range m.settings() {
		if s.key == key {
			if s.value.parse(value) != nil {
				return fmt.Errorf("sim: %s=%s: want %s", key, value, s.want)
			}
			return nil
		}
		allowed = append(allowed, s.key)
	}
	return fmt.Errorf("sim: no setting %q (=%s): want one of %s", key, value, strings.Join(allowed, ", "))
}

// Settings holds every value of the model, spelled as Set takes it.
func (m *Model) Settings() map[string]string {
	out := make(map[string]string)
	for _, s := range m.settings() {
		out[s.key] = s.value.text()
	}
	return out
}

// check says what is wrong with a model that was put together by hand.
func (m *Model) check() error {
	for _, s := range m.settings() {
		if err := new(Model).Set(s.key, s.value.text()); err != nil {
			return err
		}
	}
	return nil
}

// errNotAllowed is a value that can be read and is out of range; Set says which
// values are allowed.
var errNotAllowed = errors.New("out of range")

// within gives err, or errNotAllowed if the value is not allowed.
func within(allowed bool, err error) error {
	if err == nil && !allowed {
		return errNotAllowed
	}
	return err
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

type rate float64

func (r *rate) parse(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err = within(v >= 1e-3 && v <= 1e9 || math.IsInf(v, 1), err); err == nil {
		*r = rate(v)
	}
	return err
}

func (r *rate) text() string {
	if math.IsInf(float64(*r), 1) {
		return "inf"
	}
	return number(float64(*r))
}

type rateOrZero rate

func (r *rateOrZero) parse(text string) error {
	if v, err := strconv.ParseFloat(text, 64); err == nil && v == 0 {
		*r = 0
		return nil
	}
	return (*rate)(r).parse(text)
}

func (r *rateOrZero) text() string { return (*rate)(r).text() }

type rates []float64

func (r *rates) parse(text string) error {
	if text == "" || text == "0" {
		*r = nil
		return nil
	}
	var read rates
	for part := range strings.SplitSeq(text, ":") {
		var one rate
		if err := one.parse(part); err != nil {
			return err
		}
		read = append(read, float64(one))
	}
	*r = read
	return nil
}

func (r *rates) text() string {
	if len(*r) == 0 {
		return "0"
	}
	var parts []string
	for _, v := range *r {
		parts = append(parts, (*rate)(&v).text())
	}
	return strings.Join(parts, ":")
}

type span time.Duration

func (s *span) parse(text string) error {
	v, err := time.ParseDuration(text)
	if err = within(v >= 0 && v <= time.Hour, err); err == nil {
		*s = span(v)
	}
	return err
}

func (s *span) text() string { return time.Duration(*s).String() }

type compute Model

func (c *compute) parse(text string) error {
	if text == "roofline" {
		c.FixedStep, c.Step = false, 0
		return nil
	}
	err := (*span)(&c.Step).parse(text)
	c.FixedStep = c.FixedStep || err == nil
	return err
}

func (c *compute) text() string {
	if !c.FixedStep {
		return "roofline"
	}
	return c.Step.String()
}

type count int

func (c *count) parse(text string) error {
	v, err := strconv.Atoi(text)
	if err = within(v >= 1 && v <= 16, err); err == nil {
		*c = count(v)
	}
	return err
}

func (c *count) text() string { return strconv.Itoa(int(*c)) }

type seconds float64

func (s *seconds) parse(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err = within(v >= 0 && v <= 3600, err); err == nil {
		*s = seconds(v)
	}
	return err
}

func (s *seconds) text() string { return number(float64(*s)) }

type fraction float64

func (f *fraction) parse(text string) error {
	digits, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(digits, 64)
	if percent {
		v /= 100
	}
	if err = within(v >= 0 && v < 1, err); err == nil {
		*f = fraction(v)
	}
	return err
}

func (f *fraction) text() string { return number(float64(*f)) }

type seed uint64

func (s *seed) parse(text string) error {
	v, err := strconv.ParseUint(text, 10, 64)
	if err == nil {
		*s = seed(v)
	}
	return err
}

func (s *seed) text() string { return strconv.FormatUint(uint64(*s), 10) }

// sizeUnits are from the largest down, so that text takes the first that fits.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// mostBytes is the largest size, 8 PiB: float64 holds all sizes up to it exactly.
const mostBytes = 1 << 53

type sizeOrZero int64

func (s *sizeOrZero) parse(text string) error {
	unit := int64(1)
	for _, u := range sizeUnits {
		if digits, found := strings.CutSuffix(text, u.name); found {
			text, unit = digits, u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	v *= float64(unit)
	if err = within(v >= 0 && v <= mostBytes && v == math.Trunc(v), err); err == nil {
		*s = sizeOrZero(v)
	}
	return err
}

func (s *sizeOrZero) text() string {
	for _, u := range sizeUnits[:len(sizeUnits)-1] {
		if v := int64(*s); v > 0 && v%u.bytes == 0 {
			return strconv.FormatInt(v/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

type size sizeOrZero

func (s *size) parse(text string) error {
	var v sizeOrZero
	err := v.parse(text)
	if err = within(v > 0, err); err == nil {
		*s = size(v)
	}
	return err
}

func (s *size) text() string { return (*sizeOrZero)(s).text() }
