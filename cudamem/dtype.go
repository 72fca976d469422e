package cudamem

import "fmt"

// DType is the type of one value of a sample.
type DType uint8

// The types a sample can have. The zero value is Float32, as in the article's script.
const (
	Float32 DType = iota
	Float16
	Uint8
	Int64
)

var dtypes = [...]struct {
	name string
	size int64
}{
	Float32: {"float32", 4}, Float16: {"float16", 2}, Uint8: {"uint8", 1}, Int64: {"int64", 8},
}

// String is the name used in flags and files.
func (t DType) String() string {
	if int(t) >= len(dtypes) {
		return fmt.Sprintf("DType(%d)", uint8(t))
	}
	return dtypes[t].name
}

// Size is the length of one value in bytes.
func (t DType) Size() int64 { return dtypes[t].size }

// DTypeNames lists the names that UnmarshalText takes.
func DTypeNames() []string { return names(len(dtypes), func(i int) string { return dtypes[i].name }) }

// MarshalText gives the name.
func (t DType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText takes a name.
func (t *DType) UnmarshalText(text []byte) error {
	i, err := indexOf(string(text), DTypeNames())
	*t = DType(i)
	return err
}

func names(n int, name func(int) string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = name(i)
	}
	return out
}

func indexOf(text string, allowed []string) (int, error) {
	for i, name := range allowed {
		if text == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q is not one of %v", text, allowed)
}
