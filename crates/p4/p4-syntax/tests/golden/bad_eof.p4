control c() {
    apply {
        if (x
