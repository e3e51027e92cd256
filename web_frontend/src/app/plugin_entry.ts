// What TensorBoard imports as `index.js`. It only goes on to the page, so that one code path serves both homes; `replace`,
// so that Back leaves the tab and does not return to this empty document.
export function render(): void {
  const page = new URL('index.html', document.baseURI);
  page.hash = location.hash;
  location.replace(page);
}
