/** The widths of the pictures on pages. */
export const WIDTHS = [320, 640, 1280] as const
/** The widths, and `preview` for link previews and mails. */
export const SIZES = ['320', '640', '1280', 'preview'] as const
export type Size = (typeof SIZES)[number]

export const imageUrl = (baseUrl: string, imageId: string, size: Size): string =>
  `${baseUrl}/api/images/${imageId}/${size}`

/** The addresses of a product's picture: an uploaded one, or else one on another server, or none. */
export function imagesOf(
  baseUrl: string,
  { imageId, imageUrl: elsewhere }: { imageId: string | null; imageUrl: string | null },
): { imageUrl?: string; images?: Record<Size, string> } {
  if (imageId === null) return elsewhere === null ? {} : { imageUrl: elsewhere }
  const urls = SIZES.map((size) => [size, imageUrl(baseUrl, imageId, size)])
  const images = Object.fromEntries(urls) as Record<Size, string>
  return { imageUrl: images[1280], images }
}
