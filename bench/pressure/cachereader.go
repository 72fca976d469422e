package pressure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pinscope/cudamem"
)

const (
	// MaxCacheFileBytes bounds what a CacheReader writes.
	MaxCacheFileBytes = 4 << 30

	// restPasses is how long a reader rests after each pass, in passes, so that it
	// does not compete with the loader for a whole core and the memory's bandwidth.
	restPasses = 3

	leastRest     = 20 * time.Millisecond
	readChunk     = 1 << 20
	fillerPattern = 0x5A // no hole in the file: holes read without touching the disk
)

// CacheReader reads a temporary file of its own again and again: as long as the
// page cache holds the file that costs no disk access, and when memory gets short
// its pages are the first to go. It stands for the data set files of a training
// that are cached in memory.
type CacheReader struct {
	file     *os.File
	unlinked bool
	bytes    int64
	clock    cudamem.Clock
}

// CacheFileBytes is a size that shows what happens to cached files and costs
// little: a sixteenth of what is available, at most 512 MiB; 0 if that is unknown.
func CacheFileBytes(l Limits) int64 {
	if l.AvailableBytes == nil {
		return 0
	}
	return min(*l.AvailableBytes/16, 512<<20)
}

// CacheReading is what a reader achieved.
type CacheReading struct {
	Passes         int64   `json:"passes"` // whole readings of the file
	Bytes          int64   `json:"bytes"`
	BytesPerSecond float64 `json:"bytes_per_second"` // while reading, rests left out; 0: nothing was read
}

// NewCacheReader writes a file of so many bytes, up to MaxCacheFileBytes, into
// folder and to the disk. The folder must be on a disk: tmpfs is itself memory
// that reclaim cannot drop, and is refused where mounts can be read below root.
// Close removes the file.
func NewCacheReader(ctx context.Context, root Root, folder string, bytes int64, clock cudamem.Clock) (*CacheReader, error) {
	if bytes <= 0 || bytes > MaxCacheFileBytes {
		return nil, fmt.Errorf("pressure: cache file of %d bytes: must be 1 to %d", bytes, int64(MaxCacheFileBytes))
	}
	if kind := root.fileSystem(folder); kind == "tmpfs" || kind == "ramfs" {
		return nil, fmt.Errorf("pressure: cache file in %s: %s is memory, not a disk; choose another folder", folder, kind)
	}
	file, err := os.CreateTemp(folder, "pinscope-cache-*")
	if err != nil {
		return nil, fmt.Errorf("pressure: cache file: %w", err)
	}
	// A file without a name goes with its process, however that ends. Windows
	// keeps it until Close.
	r := &CacheReader{file: file, bytes: bytes, clock: clock, unlinked: os.Remove(file.Name()) == nil}
	if err := r.fill(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("pressure: write cache file of %d bytes: %w", bytes, err), r.Close())
	}
	return r, nil
}

// fill writes the file; synced pages are clean, so that reclaim can drop them.
func (r *CacheReader) fill(ctx context.Context) error {
	chunk := make([]byte, readChunk)
	for i := range chunk {
		chunk[i] = fillerPattern
	}
	for left := r.bytes; left > 0; left -= int64(len(chunk)) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		chunk = chunk[:min(int64(len(chunk)), left)]
		if _, err := r.file.Write(chunk); err != nil {
			return err
		}
	}
	return r.file.Sync()
}

// Run reads until ctx is done. That is not an error.
func (r *CacheReader) Run(ctx context.Context) (CacheReading, error) {
	var out CacheReading
	var reading time.Duration
	buffer := make([]byte, readChunk)
	for ctx.Err() == nil {
		start := r.clock.Now()
		n, err := r.pass(ctx, buffer)
		took := r.clock.Now() - start
		reading += took
		out.Bytes += n
		if err != nil {
			return out, fmt.Errorf("pressure: read cache file: %w", err)
		}
		if n == r.bytes {
			out.Passes++
		}
		rest(ctx, max(restPasses*took, leastRest))
	}
	if reading > 0 {
		out.BytesPerSecond = float64(out.Bytes) / reading.Seconds()
	}
	return out, nil
}

// pass reads the file once, or until ctx is done.
func (r *CacheReader) pass(ctx context.Context, buffer []byte) (n int64, err error) {
	for n < r.bytes && ctx.Err() == nil {
		got, err := r.file.ReadAt(buffer[:min(int64(len(buffer)), r.bytes-n)], n)
		n += int64(got)
		if err != nil && !(errors.Is(err, io.EOF) && n == r.bytes) {
			return n, err
		}
	}
	return n, nil
}

func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Close removes the file. It may be called twice.
func (r *CacheReader) Close() error {
	if r.file == nil {
		return nil
	}
	file := r.file
	r.file = nil
	err := file.Close()
	if !r.unlinked {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return err
}

// fileSystem is the kind of file system that holds a folder; empty: unknown.
func (r Root) fileSystem(folder string) (kind string) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	fs, _, err := r.procfs()
	if err != nil {
		return ""
	}
	mounts, err := fs.GetMounts()
	if err != nil {
		return ""
	}
	longest := 0
	for _, m := range mounts { // of several at one place the last is seen
		inside := m.MountPoint == "/" || folder == m.MountPoint || strings.HasPrefix(folder, m.MountPoint+"/")
		if inside && len(m.MountPoint) >= longest {
			longest, kind = len(m.MountPoint), m.FSType
		}
	}
	return kind
}
