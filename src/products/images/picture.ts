import type SharpLibrary from 'sharp'
import type { Sharp } from 'sharp'
import { Refusal } from '../../kit/errors.ts'
import { type Size, WIDTHS } from './urls.ts'

/** Decoded, a picture takes four bytes a pixel: 200 MB while the largest one is made. */
const MOST_PIXELS = 50_000_000
/** Of one step; the largest pictures take about three. */
const TIMEOUT_SECONDS = 15
/** A picture twice as high as it is wide is as high as a page shows one. */
const HIGHEST = 2
const PREVIEW = { width: 1200, height: 630 }
const WEBP_QUALITY = 80
const JPEG_QUALITY = 82
const KINDS = new Set(['png', 'jpeg', 'webp', 'gif'])

const NOT_READABLE = 'This is not a whole PNG, JPEG, WebP, AVIF or GIF picture.'

/**
 * A picture in the sizes we show, made anew: turned as its EXIF says, in the colours of the web, with nothing left of what
 * the file held beside the picture, the place where it was taken for one. Never enlarged; of an animation the first frame.
 * Refuses `image_not_readable`, `image_too_large`.
 */
export async function sizesOf(bytes: Buffer): Promise<Map<Size, Buffer>> {
  const sharp = await loading()
  const whole = await pixelsOf(sharp, bytes)
  const again = () => sharp(whole.data, { raw: whole.info })
  const sizes = new Map<Size, Buffer>()
  for (const width of WIDTHS) {
    const made = await timed(within(again(), width)).webp({ quality: WEBP_QUALITY }).toBuffer()
    sizes.set(`${width}`, made)
  }
  sizes.set('preview', await previewOf(sharp, again))
  return sizes
}

let loaded: Promise<typeof SharpLibrary> | undefined

/** Loads the library when the first picture comes: it takes 30 MB, and most services see few pictures. */
function loading(): Promise<typeof SharpLibrary> {
  loaded ??= import('sharp').then(({ default: sharp }) => {
    // nothing else is even looked at, whatever the file says it is
    sharp.block({ operation: ['VipsForeignLoad'] })
    const loaders = ['Jpeg', 'Png', 'Webp', 'Heif', 'Nsgif']
    sharp.unblock({ operation: loaders.map((name) => `VipsForeignLoad${name}`) })
    // no picture comes twice, and the processors are for those who buy
    sharp.cache(false)
    sharp.concurrency(1)
    return sharp
  })
  // a library that could not be loaded once may be there when it is asked for again
  loaded.catch(() => (loaded = undefined))
  return loaded
}

/** The picture at the largest size that is shown: decoded once for all of them. Its header says before how large it is. */
async function pixelsOf(sharp: typeof SharpLibrary, bytes: Buffer) {
  if (bytes.length === 0) throw new Refusal('image_not_readable', NOT_READABLE)
  try {
    const { format, compression, width, height } = await sharp(bytes, { limitInputPixels: false }).metadata()
    if (!KINDS.has(format) && !(format === 'heif' && compression === 'av1'))
      throw new Refusal('image_not_readable', NOT_READABLE)
    if (width * height > MOST_PIXELS)
      throw new Refusal('image_too_large', `The picture has more than ${MOST_PIXELS / 1_000_000} million pixels.`)
    // what is damaged is refused; what is only unusual, as from some telephones, is not
    const picture = sharp(bytes, { limitInputPixels: MOST_PIXELS, failOn: 'error' }).autoOrient().toColourspace('srgb')
    return await timed(within(picture, Math.max(...WIDTHS)))
      .raw()
      .toBuffer({ resolveWithObject: true })
  } catch (cause) {
    if (cause instanceof Refusal) throw cause
    // the library's errors tell of the file, and of nothing else
    throw new Refusal('image_not_readable', NOT_READABLE, { cause })
  }
}

const timed = (picture: Sharp): Sharp => picture.timeout({ seconds: TIMEOUT_SECONDS })

const within = (picture: Sharp, width: number): Sharp =>
  picture.resize({ width, height: width * HIGHEST, fit: 'inside', withoutEnlargement: true })

/** The whole picture in the form that links are previewed in; beside a higher one it goes on, darker and out of focus. */
async function previewOf(sharp: typeof SharpLibrary, again: () => Sharp): Promise<Buffer> {
  const white = { background: '#ffffff' }
  const front = await timed(
    again()
      .flatten(white)
      .resize({ ...PREVIEW, fit: 'inside', withoutEnlargement: true }),
  )
    .png({ compressionLevel: 1 })
    .toBuffer()
  // what is out of focus has no detail: made small it takes a tenth of the time
  const small = { width: PREVIEW.width / 10, height: PREVIEW.height / 10 }
  const { data, info } = await timed(
    again()
      .flatten(white)
      .resize({ ...small, fit: 'fill' })
      .modulate({ brightness: 0.75 })
      .blur(4),
  )
    .raw()
    .toBuffer({ resolveWithObject: true })
  const behind = sharp(data, { raw: info }).resize({ ...PREVIEW, fit: 'fill' })
  return timed(behind.composite([{ input: front }]))
    .jpeg({ quality: JPEG_QUALITY })
    .toBuffer()
}
