package pressure

import (
	"encoding/json"
	"fmt"
	"math"

	"pinscope/bench/units"
)

// Ceiling is a limit in bytes that may be set to none.
type Ceiling int64

// Unlimited is a Ceiling that is known not to be there.
const Unlimited Ceiling = math.MaxInt64

func (c Ceiling) String() string {
	if c == Unlimited {
		return "unlimited"
	}
	return units.Bytes(int64(c))
}

// MarshalJSON gives the bytes, or "unlimited".
func (c Ceiling) MarshalJSON() ([]byte, error) {
	if c == Unlimited {
		return []byte(`"unlimited"`), nil
	}
	return json.Marshal(int64(c))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Ceiling) UnmarshalJSON(text []byte) error {
	if string(text) == `"unlimited"` {
		*c = Unlimited
		return nil
	}
	var bytes int64
	if err := json.Unmarshal(text, &bytes); err != nil {
		return fmt.Errorf("pressure: read limit: %w", err)
	}
	*c = Ceiling(bytes)
	return nil
}
