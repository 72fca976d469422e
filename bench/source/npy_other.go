//go:build !unix

package source

import "errors"

// canMap is false: files are read into memory.
const canMap = false

func mapNpy(f *npyFile, _ int64) (Source, error) { return nil, f.explain(errors.ErrUnsupported) }
