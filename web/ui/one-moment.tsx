/**
 * For a request that nearly always answers at once: shows nothing first, then that it is loading, then that it takes
 * long.
 */
export const OneMoment = () => (
  <div class="stack soft">
    <p class="busy-line later">
      <span class="spinner" aria-hidden="true" /> One moment…
    </p>
    <p class="much-later">This takes longer than usual. The connection seems to be slow.</p>
  </div>
)
