import type SharpLibrary from 'sharp'
import type { Sharp } from 'sharp'
import { Refusal } from '../../kit/errors.ts'
import { type Size, WIDTHS } from './urls.ts'

/** A decoded picture takes four bytes a pixel, so the largest one takes 200 MB. */
const MOST_PIXELS = 50_000_000
/** For one step. The largest pictures take about three seconds. */
const TIMEOUT_SECONDS = 15
/** A page shows pictures up to this many times as high as they are wide. */
const HIGHEST = 2
const PREVIEW = { width: 1200, height: 630 }
/** Twice the size in which pages and mails show it. */
const LOGO = { width: 400, height: 160 }
const LOGO_QUALITY = 90
const WEBP_QUALITY = 80
const JPEG_QUALITY = 82
const KINDS = new Set(['png', 'jpeg', 'webp', 'gif'])

const NOT_READABLE = 'This is not a whole PNG, JPEG, WebP, AVIF or GIF picture.'

/**
 * Encodes a picture in all our sizes: turned as its EXIF says, in sRGB, and without other data of the file, such as the place where it
 * was taken. Pictures are never enlarged. Of an animation the first frame is used. Refuses `image_not_readable`, `image_too_large`.
 */
export async function sizesOf(bytes: Buffer): Promise<Map<Size, Buffer>> {
  const sharp = await loading()
  const whole = await pixelsOf(sharp, bytes)
  const fresh = () => sharp(whole.data, { raw: whole.info })
  const sizes = new Map<Size, Buffer>()
  for (const width of WIDTHS) {
    const made = await timed(within(fresh(), width)).webp({ quality: WEBP_QUALITY }).toBuffer()
    sizes.set(`${width}`, made)
  }
  sizes.set('preview', await previewOf(sharp, fresh))
  return sizes
}

/**
 * Encodes a logo in one size, with its transparency, and without other data of the file. Refuses `image_not_readable`,
 * `image_too_large`.
 */
export async function logoOf(bytes: Buffer): Promise<Buffer> {
  const sharp = await loading()
  const { data, info } = await pixelsOf(sharp, bytes)
  const small = sharp(data, { raw: info }).resize({ ...LOGO, fit: 'inside', withoutEnlargement: true })
  return timed(small).webp({ quality: LOGO_QUALITY }).toBuffer()
}

let loaded: Promise<typeof SharpLibrary> | undefined

/** Loads the library when the first picture comes: it takes 30 MB, and most services see few pictures. */
function loading(): Promise<typeof SharpLibrary> {
  loaded ??= import('sharp').then(({ default: sharp }) => {
    // other decoders stay off, whatever type the file claims to have
    sharp.block({ operation: ['VipsForeignLoad'] })
    const loaders = ['Jpeg', 'Png', 'Webp', 'Heif', 'Nsgif']
    sharp.unblock({ operation: loaders.map((name) => `VipsForeignLoad${name}`) })
    // a cache would not help, and one thread leaves the other cores to checkouts
    sharp.cache(false)
    sharp.concurrency(1)
    return sharp
  })
  // after a failure the next picture tries to load it again
  loaded.catch(() => (loaded = undefined))
  return loaded
}

/** Decodes the picture once, at the largest size that we show. Its header gives its size before that. */
async function pixelsOf(sharp: typeof SharpLibrary, bytes: Buffer) {
  if (bytes.length === 0) throw new Refusal('image_not_readable', NOT_READABLE)
  try {
    const { format, compression, width, height } = await sharp(bytes, { limitInputPixels: false }).metadata()
    if (!KINDS.has(format) && !(format === 'heif' && compression === 'av1'))
      throw new Refusal('image_not_readable', NOT_READABLE)
    if (width * height > MOST_PIXELS)
      throw new Refusal('image_too_large', `The picture has more than ${MOST_PIXELS / 1_000_000} million pixels.`)
    // `error` refuses damaged pictures and accepts unusual ones, as some telephones make them
    const picture = sharp(bytes, { limitInputPixels: MOST_PIXELS, failOn: 'error' }).autoOrient().toColourspace('srgb')
    return await timed(within(picture, Math.max(...WIDTHS)))
      .raw()
      .toBuffer({ resolveWithObject: true })
  } catch (cause) {
    if (cause instanceof Refusal) throw cause
    // all errors of the library are about the file
    throw new Refusal('image_not_readable', NOT_READABLE, { cause })
  }
}

const timed = (picture: Sharp): Sharp => picture.timeout({ seconds: TIMEOUT_SECONDS })

const within = (picture: Sharp, width: number): Sharp =>
  picture.resize({ width, height: width * HIGHEST, fit: 'inside', withoutEnlargement: true })

/** The whole picture in the format of link previews. A darker, blurred copy fills the space beside it. */
async function previewOf(sharp: typeof SharpLibrary, fresh: () => Sharp): Promise<Buffer> {
  const white = { background: '#ffffff' }
  const front = await timed(
    fresh()
      .flatten(white)
      .resize({ ...PREVIEW, fit: 'inside', withoutEnlargement: true }),
  )
    .png({ compressionLevel: 1 })
    .toBuffer()
  // the blurred copy needs no detail, and a small one takes a tenth of the time
  const small = { width: PREVIEW.width / 10, height: PREVIEW.height / 10 }
  const { data, info } = await timed(
    fresh()
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
