package source

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"math"

	"github.com/x448/float16"
	"golang.org/x/image/draw"

	"pinscope/cudamem"
)

// imageFiller decodes one image after the other. Of a wrong relation of width and
// height it takes the middle (the shorter side fits, the longer is cropped), and
// scales it to the shape. Transparent parts become black; what a camera noted
// about its orientation is not looked at, as in Pillow. Its own memory is used
// again for each image; image/jpeg and image/png allocate theirs.
type imageFiller struct {
	*images
	reader *bufio.Reader
	scaled *image.RGBA
	// values are what a byte of each channel becomes, as bits.
	values [3][256]uint32
}

// Means and standard deviations of ImageNet's channels, by which torchvision's
// pretrained models expect images to be normalised.
var (
	channelMean = [3]float64{0.485, 0.456, 0.406}
	channelStd  = [3]float64{0.229, 0.224, 0.225}
)

func newImageFiller(s *images) *imageFiller {
	f := &imageFiller{images: s, reader: bufio.NewReaderSize(nil, 64<<10),
		scaled: image.NewRGBA(image.Rect(0, 0, s.spec.Shape[2], s.spec.Shape[1]))}
	for channel := range f.values {
		for value := range f.values[channel] {
			normalised := float32((float64(value)/255 - channelMean[channel]) / channelStd[channel])
			bits := &f.values[channel][value]
			switch s.spec.DType {
			case cudamem.Float32:
				*bits = math.Float32bits(normalised)
			case cudamem.Float16:
				*bits = uint32(float16.Fromfloat32(normalised).Bits())
			default:
				*bits = uint32(value)
			}
		}
	}
	return f
}

// Fill decodes a file, or the first readable one after it if those that cannot be
// read are skipped.
func (f *imageFiller) Fill(dst, label []byte, index int64) error {
	if !f.skips {
		return f.fillFrom(dst, label, index)
	}
	var err error
	for range f.files {
		if !f.isBad(index) {
			if err = f.fillFrom(dst, label, index); err == nil {
				return nil
			}
			f.markBad(index)
		}
		if stopped := f.context.Err(); stopped != nil {
			return stopped
		}
		index = (index + 1) % f.spec.Samples
	}
	return errors.Join(fmt.Errorf("none of the %d image files can be read", len(f.files)), err)
}

func (f *imageFiller) fillFrom(dst, label []byte, index int64) error {
	file := f.files[index]
	picture, err := f.decode(file.path)
	if err != nil {
		return &FileError{file.path, err}
	}
	draw.ApproxBiLinear.Scale(f.scaled, f.scaled.Bounds(), picture, middle(picture.Bounds(), f.scaled.Bounds()), draw.Src, nil)
	f.writeChannels(dst)
	putClass(label, file.class%f.classes)
	return nil
}

// middle is the largest part of an image of so many pixels in the middle that has
// the target's relation of width to height.
func middle(whole, target image.Rectangle) image.Rectangle {
	width, height := int64(whole.Dx()), int64(whole.Dy())
	toWidth, toHeight := int64(target.Dx()), int64(target.Dy())
	cropped := image.Pt(int(width), int(height))
	if width*toHeight > height*toWidth {
		cropped.X = int(max(height*toWidth/toHeight, 1))
	} else {
		cropped.Y = int(max(width*toHeight/toWidth, 1))
	}
	low := whole.Min.Add(image.Pt((int(width)-cropped.X)/2, (int(height)-cropped.Y)/2))
	return image.Rectangle{Min: low, Max: low.Add(cropped)}
}

// decode reads a file whose header does not promise too much.
func (f *imageFiller) decode(path string) (image.Image, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, cause(err)
	}
	defer file.Close()
	f.reader.Reset(file)
	format, err := readImageHeader(f.reader)
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, cause(err)
	}
	f.reader.Reset(file)
	picture, err := format.decode(f.reader)
	return picture, decodeError(err)
}

// checkImage reads no more of a file than its header.
func checkImage(path string) error {
	file, err := openRegular(path)
	if err == nil {
		defer file.Close()
		_, err = readImageHeader(bufio.NewReader(file))
	}
	if err != nil {
		return &FileError{path, cause(err)}
	}
	return nil
}

// readImageHeader finds out how a file is read, and that it does not promise too much.
func readImageHeader(r *bufio.Reader) (format, error) {
	found, err := formatOf(r)
	if err != nil {
		return format{}, err
	}
	size, err := found.size(r)
	if err != nil {
		return format{}, decodeError(err)
	}
	if size.Width < 1 || size.Height < 1 || int64(size.Width) > maxPixels/int64(size.Height) {
		return format{}, fmt.Errorf("its size of %dx%d pixels is not allowed; allowed is up to %d pixels", size.Width, size.Height, maxPixels)
	}
	return found, nil
}

// format is how a kind of image file is read.
type format struct {
	magic  string
	size   func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

var formats = [...]format{
	{"\xff\xd8", jpeg.DecodeConfig, jpeg.Decode},
	{"\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode},
}

// formatOf goes by what a file begins with, whatever its name is.
func formatOf(r *bufio.Reader) (format, error) {
	for _, f := range formats {
		start, err := r.Peek(len(f.magic))
		if err != nil && err != io.EOF {
			return format{}, cause(err)
		}
		if string(start) == f.magic {
			return f, nil
		}
	}
	return format{}, errors.New("it is neither a JPEG nor a PNG file")
}

// decodeError tells what a decoder met apart: a failing disk, a file that others
// can read, and damage.
func decodeError(err error) error {
	var (
		path *fs.PathError
		jpg  jpeg.UnsupportedError
		png  png.UnsupportedError
	)
	switch {
	case err == nil, errors.As(err, &jpg), errors.As(err, &png):
		return err
	case errors.As(err, &path):
		return path.Err
	}
	return fmt.Errorf("it is damaged or cut off: %w", err)
}

// writeChannels writes the scaled image, channel after channel.
func (f *imageFiller) writeChannels(dst []byte) {
	pixels, plane := f.scaled.Pix, len(f.scaled.Pix)/4
	for channel := range f.values {
		values := &f.values[channel]
		switch f.spec.DType {
		case cudamem.Float32:
			for i := range plane {
				binary.LittleEndian.PutUint32(dst[(channel*plane+i)*4:], values[pixels[i*4+channel]])
			}
		case cudamem.Float16:
			for i := range plane {
				binary.LittleEndian.PutUint16(dst[(channel*plane+i)*2:], uint16(values[pixels[i*4+channel]]))
			}
		default:
			for i := range plane {
				dst[channel*plane+i] = pixels[i*4+channel]
			}
		}
	}
}

// Close leaves the list of files to the source.
func (f *imageFiller) Close() error { return nil }
