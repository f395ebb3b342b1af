# Bailiff's site profile for R (R_PROFILE): the host's own first, then a default
# device that writes images.  Nothing of a program is edited: plot(), hist(),
# print() of a ggplot and whatever else opens R's default device gets this one.
# It runs with the program's rights and is believed no more than the program.
local({
  site <- file.path(R.home("etc"), "Rprofile.site")
  if (file.exists(site)) sys.source(site, envir = baseenv())

  # Devices are numbered, and the pages of each: 0001-01.png, 0001-02.png.
  # Of a number that is taken (by another process) nothing is overwritten.
  place <- "/sandbox/plots"
  options(device = function(width = 8, height = 6, pointsize = 12, ...) {
    dir.create(place, showWarnings = FALSE)
    n <- 1L
    while (length(Sys.glob(sprintf("%s/%04d*", place, n))) > 0L) n <- n + 1L
    grDevices::png(sprintf("%s/%04d-%%02d.png", place, n), width = width,
                   height = height, units = "in", pointsize = pointsize,
                   res = 100)
  })
})
