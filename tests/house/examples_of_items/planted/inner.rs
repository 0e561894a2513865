//! A public module, whose items a macro declares.

macro_rules! getters {
    ($($name:ident),*) => {$(
        getters!(@one $name);
    )*};
    (@one $name:ident) => {paste! {
        #[doc = "The " $name " one."]
        pub fn [<get_ $name>]() -> u32 {
            1
        }
    }};
}

getters!(narrow, wide);

pub struct Exported;

impl Exported {
    pub fn new() -> Exported {
        Exported
    }

    pub fn named(&self) {}

    pub fn unnamed(&self) {}

    fn private(&self) {}
}
