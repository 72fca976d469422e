package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"pinscope/cudamem"
)

// images decodes JPEG and PNG files. The subfolders of its folder, in the order of
// their names, are the classes; files in the folder itself are of class 0. Of more
// files than asked for it takes some at even distances.
type images struct {
	spec    Spec
	files   []imageFile
	classes int64
	context context.Context

	skips bool
	bad   []atomic.Uint64 // a bit for each file that could not be read
	count atomic.Int64    // of those
}

type imageFile struct {
	path  string
	class int64
}

// maxPixels is how many an image may have that is decoded: Pillow's
// MAX_IMAGE_PIXELS, above which it warns of a decompression bomb. Decoding takes 1
// to 8 bytes for each; of a progressive JPEG up to 24, since image/jpeg keeps all
// coefficients, 4 bytes each, until it has read the last scan.
const maxPixels = 89478485

func probeImages(o Options, folder string) (Spec, error) {
	s, err := listImages(o, folder)
	return s.spec, err
}

func openImages(o Options, folder string) (Source, error) { return listImages(o, folder) }

func listImages(o Options, folder string) (*images, error) {
	s := &images{classes: int64(o.Classes), context: o.Context, skips: o.OnBad == "skip"}
	var err error
	if s.spec, err = imagesSpec(o); err != nil {
		return s, err
	}
	if s.files, err = listClasses(o.Context, folder); err != nil {
		return s, err
	}
	if len(s.files) == 0 {
		return s, fmt.Errorf("image folder %s: no .jpg, .jpeg or .png file in it or its subfolders", folder)
	}
	if n := int64(len(s.files)); o.Samples > 0 && o.Samples < n {
		for i := range o.Samples {
			s.files[i] = s.files[i*n/o.Samples]
		}
		s.files = s.files[:o.Samples]
	}
	if !s.skips { // what is wrong with all files is found before anything starts
		if err = checkImage(s.files[0].path); err != nil {
			return s, err
		}
	}
	s.spec.Samples, s.spec.Files = int64(len(s.files)), int64(len(s.files))
	s.bad = make([]atomic.Uint64, (len(s.files)+63)/64)
	return s, nil
}

func imagesSpec(o Options) (Spec, error) {
	if o.DType == cudamem.Int64 {
		return Spec{}, errors.New("dtype: int64 is not allowed with source images; allowed is float32, float16, uint8")
	}
	if len(o.Shape) != 3 || o.Shape[0] != 3 || int64(o.Shape[1]) > maxPixels/int64(o.Shape[2]) {
		return Spec{}, fmt.Errorf("shape: %s is not allowed with source images; allowed is 3xHEIGHTxWIDTH of at most %d pixels",
			shapeText(o.Shape), maxPixels)
	}
	return newSpec(0, o.Shape, o.DType)
}

// listClasses lists the files of a folder and its subfolders. Links to folders are
// followed in the folder itself alone, so that the listing ends, and not where they
// lead back to it or to one above it, whose files are no class.
func listClasses(ctx context.Context, folder string) (files []imageFile, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, folderError(folder, err)
	}
	class := int64(0)
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		info, err := os.Stat(path) // of what a link leads to
		switch {
		case err == nil && info.IsDir() && leadsBack(path, folder):
		case err == nil && info.IsDir():
			if files, err = appendClass(ctx, files, path, class); err != nil {
				return nil, err
			}
			class++
		case isImage(entry.Name()): // one that cannot be read is found when it is
			files = append(files, imageFile{path, 0})
		}
	}
	return files, nil
}

// leadsBack says whether a path in a folder is a link to that folder or to one
// above it.
func leadsBack(path, folder string) bool {
	target, err := realPath(path)
	home, homeErr := realPath(folder)
	if errors.Join(err, homeErr) != nil {
		return false // it is gone again: listing it will tell
	}
	way, err := filepath.Rel(target, home)
	return err == nil && filepath.IsLocal(way)
}

// realPath is the whole path without links.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// appendClass appends the files below a folder.
func appendClass(ctx context.Context, files []imageFile, folder string, class int64) ([]imageFile, error) {
	// The separator makes the walk follow a link.
	err := filepath.WalkDir(folder+string(filepath.Separator), func(path string, entry fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return folderError(path, err)
		}
		if !entry.IsDir() && isImage(path) {
			files = append(files, imageFile{filepath.Clean(path), class})
		}
		return nil
	})
	return files, err
}

func isImage(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jpg", ".jpeg", ".png":
		return true
	}
	return false
}

func folderError(folder string, err error) error {
	return fmt.Errorf("image folder %s: %w", filepath.Clean(folder), cause(err))
}

// FileError is an image file that cannot be used, found when the data set was opened
// or when its turn came: the input is wrong, not the run.
type FileError struct {
	Path string
	Err  error // what is wrong with it
}

func (e *FileError) Error() string { return fmt.Sprintf("image file %s: %v", e.Path, e.Err) }
func (e *FileError) Unwrap() error { return e.Err }

func (s *images) Spec() Spec            { return s.spec }
func (s *images) NewFiller(bool) Filler { return newImageFiller(s) }
func (s *images) Close() error          { return nil }

// BadSamples is how many files could not be read; they are skipped.
func (s *images) BadSamples() int64 { return s.count.Load() }

// isBad says whether a file could not be read before.
func (s *images) isBad(index int64) bool { return s.bad[index/64].Load()>>(index%64)&1 != 0 }

// markBad counts a file once.
func (s *images) markBad(index int64) {
	if bit := uint64(1) << (index % 64); s.bad[index/64].Or(bit)&bit == 0 {
		s.count.Add(1)
	}
}

var _ BadSampler = (*images)(nil)
