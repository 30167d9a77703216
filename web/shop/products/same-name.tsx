import { Dialog } from '../dialog.tsx'

interface SameNameProps {
  name: string
  /** The name for the new file beside the other one. */
  other: string
  onReplace: () => void
  onKeepBoth: () => void
  onClose: () => void
}

/** The product already has a file of this name. Only the seller knows whether the new one replaces it. */
export const SameName = ({ name, other, onReplace, onKeepBoth, onClose }: SameNameProps) => (
  <Dialog title="There is a file with this name already" closable onClose={onClose} onSubmit={onReplace}>
    <p class="cut">
      <b>{name}</b>
    </p>
    <p>
      Replace it, and new buyers get the new file in its place; everybody who has bought the old one keeps it. Or keep
      both: the new file is called <span class="address">{other}</span>.
    </p>
    <div class="row">
      <button
        type="submit"
        class="button main short"
        // Enter that is still held from the question before answers nothing.
        onKeyDown={(event) => event.key === 'Enter' && event.repeat && event.preventDefault()}
      >
        Replace it
      </button>
      <button type="button" class="button" onClick={onKeepBoth}>
        Keep both
      </button>
      <button type="button" class="button" onClick={onClose}>
        Do not upload it
      </button>
    </div>
  </Dialog>
)
