/** How wide the pictures are that pages show. */
export const WIDTHS = [320, 640, 1280] as const
/** The widths, and what link previews and mails show. */
export const SIZES = ['320', '640', '1280', 'preview'] as const
export type Size = (typeof SIZES)[number]

export const imageUrl = (baseUrl: string, imageId: string, size: Size): string =>
  `${baseUrl}/api/images/${imageId}/${size}`

/** Where a product's picture is: one that was uploaded, or else one that lies elsewhere, or none. */
export function imagesOf(
  baseUrl: string,
  { imageId, imageUrl: elsewhere }: { imageId: string | null; imageUrl: string | null },
): { imageUrl?: string; images?: Record<Size, string> } {
  if (imageId === null) return elsewhere === null ? {} : { imageUrl: elsewhere }
  const urls = SIZES.map((size) => [size, imageUrl(baseUrl, imageId, size)])
  const images = Object.fromEntries(urls) as Record<Size, string>
  return { imageUrl: images[1280], images }
}
