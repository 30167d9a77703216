/** How large a file may be, and how much a seller may keep here in all: 0 is no limit. */
export interface UploadLimits {
  maxBytes: number
  quotaBytes: number
}
